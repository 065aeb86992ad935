//! Closed enums that have one spelling everywhere: in rows, on the wire and on pages.

/// Declares an enum whose every value has a fixed word. Gives it `ALL`, `word()`, `parse()`,
/// `Display`, serde by that word, and a JSON Schema that lists the words.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$value_meta:meta])* $value:ident = $word:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema,
        )]
        #[schemars(inline)]
        pub enum $name {
            $( $(#[$value_meta])* #[serde(rename = $word)] $value, )+
        }

        impl $name {
            /// Every value, in the order it is declared.
            pub const ALL: &'static [Self] = &[ $( Self::$value, )+ ];

            /// The one spelling.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )+ }
            }

            /// The value of a spelling, if it is one.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $( $word => Some(Self::$value), )+ _ => None }
            }

            /// All spellings, for a message: `a, b or c`.
            #[must_use]
            pub fn choices() -> String {
                let words: Vec<&str> = Self::ALL.iter().map(|value| value.word()).collect();
                $crate::base::text::or_list(&words)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
