//! A text as the words by which it is compared.

use std::collections::HashMap;
use std::sync::LazyLock;

/// One word of a text, in its compared form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word.
    Word(String),
    /// Something with a digit in it.
    Number(String),
    /// A path, file name or identifier.
    Name(String),
}

impl Token {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Number(text) | Self::Name(text) => text,
        }
    }
}

/// Words that carry nothing, English and French. Words that deny, such as `not`, are none of them.
const EMPTY: &str = "the an and or of to in on at by for with from into onto as is are be been was \
    were it its this that these those there then than so if when while which who we you they our \
    your their my me us he she will would should shall must can could may might do does did done \
    has have had please also just very now all any some each such via per let \
    le la les un une des du de et ou au aux en dans sur par pour avec que qui quoi dont ce cet \
    cette ces il elle ils elles on nous vous je tu son sa ses leur leurs notre votre mon ma mes \
    est sont etre sera doit doivent devra faut peut peuvent afin si quand lorsque lors ainsi tres \
    aussi donc alors plus ne se sa qu";

/// Words that mean the same in a brief; each line is one word.
const SAME: &[&str] = &[
    "add implement introduce create build provide support ajouter implementer creer",
    "fix repair correct resolve solve corriger reparer resoudre",
    "remove delete drop erase supprimer retirer enlever effacer",
    "show display render present afficher montrer presenter",
    "change update modify adjust alter modifier changer adapter",
    "rename renommer",
    "store save keep persist remember enregistrer sauvegarder conserver garder",
    "toggle switch",
    "error failure fault erreur",
    "crash crashes crashing break breaks planter plante",
    "user users utilisateur",
    "settings preferences preference setting reglage parametre",
    "page screen view ecran",
    "button bouton",
    "log logs journal journaux",
    "speed faster quick fast rapide accelerer",
    "allow enable permit permettre autoriser",
    "check verify validate verifier valider",
    "email mail courriel",
    "test tests spec",
    "list liste",
    "message notice",
    "picture image photo",
    "choice selection choix",
    "send envoyer",
    "sort trier",
    "function method fonction",
    "document documentation docs",
    "folder directory dossier repertoire",
    "sign login connexion",
];

/// Words of which one cannot stand for the other.
const OPPOSITES: &[(&str, &str)] = &[
    ("enable", "disable"),
    ("add", "remove"),
    ("show", "hide"),
    ("start", "stop"),
    ("open", "close"),
    ("import", "export"),
    ("upload", "download"),
    ("login", "logout"),
    ("encrypt", "decrypt"),
    ("increase", "decrease"),
    ("ajouter", "supprimer"),
    ("activer", "desactiver"),
    ("afficher", "masquer"),
    ("importer", "exporter"),
    ("ouvrir", "fermer"),
    ("augmenter", "reduire"),
];

static EMPTY_WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut words: Vec<&str> = EMPTY.split_whitespace().collect();
    words.sort_unstable();
    words
});

static SYNONYMS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let group = |words: &&'static str| {
        let mut stems = words.split_whitespace().map(|word| stem(word).to_owned());
        let first = stems.next().unwrap_or_default();
        stems.map(move |other| (other, first.clone())).collect::<Vec<_>>()
    };
    SAME.iter().flat_map(group).collect()
});

/// Whether one of two sorted lists of hashed words says the opposite of the other.
pub(super) fn opposed(one: &[u64], other: &[u64], hash: fn(&str) -> u64) -> bool {
    let has = |words: &[u64], word: u64| words.binary_search(&word).is_ok();
    OPPOSITES.iter().any(|(left, right)| {
        let (left, right) = (hash(compared(left)), hash(compared(right)));
        let parts =
            |a: &[u64], b: &[u64]| has(a, left) && !has(b, left) && has(b, right) && !has(a, right);
        parts(one, other) || parts(other, one)
    })
}

/// The sentences of a text as their words. Where nothing but empty words is left of the text, they
/// count.
pub(super) fn sentences(text: &str) -> Vec<Vec<Token>> {
    let said = read(text, true);
    if said.is_empty() { read(text, false) } else { said }
}

fn read(text: &str, leave_out: bool) -> Vec<Vec<Token>> {
    let mut out: Vec<Vec<Token>> = Vec::new();
    let mut sentence = Vec::new();
    for line in text.lines() {
        for chunk in without_marker(line).split_whitespace() {
            take(chunk, leave_out, &mut sentence);
            if chunk.ends_with(['.', '!', '?', ';', ':']) && !sentence.is_empty() {
                out.push(std::mem::take(&mut sentence));
            }
        }
        if !sentence.is_empty() {
            out.push(std::mem::take(&mut sentence));
        }
    }
    out
}

/// A line without the number or sign of a list: an entry that moves is the same entry.
fn without_marker(line: &str) -> &str {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marked = |rest: &str| rest.starts_with(". ") || rest.starts_with(") ");
    if (1..=3).contains(&digits) && marked(&line[digits..]) { &line[digits + 1..] } else { line }
}

fn take(chunk: &str, leave_out: bool, out: &mut Vec<Token>) {
    let chunk = chunk.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '.');
    let chunk = chunk.trim_end_matches(|c: char| !c.is_alphanumeric());
    if chunk.is_empty() {
        return;
    }
    if is_name(chunk) {
        return out.push(Token::Name(folded(chunk)));
    }
    for word in chunk.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ',')) {
        let word = word.trim_matches(['.', ',']);
        if word.chars().any(char::is_numeric) {
            out.push(Token::Number(folded(word)));
            continue;
        }
        for word in word.split(['.', ',']) {
            let word = folded(word);
            let is_letter = word.len() <= 1;
            let is_empty = EMPTY_WORDS.binary_search(&word.as_str()).is_ok();
            if !word.is_empty() && !(leave_out && (is_letter || is_empty)) {
                out.push(Token::Word(compared(&word).to_owned()));
            }
        }
    }
}

/// Whether something is written as paths, file names and identifiers are.
fn is_name(chunk: &str) -> bool {
    let has_letter = chunk.chars().any(char::is_alphabetic);
    let has_inner_dot =
        chunk.rsplit_once('.').is_some_and(|(start, end)| start.len() > 1 && is_extension(end));
    let mut neighbours = chunk.chars().zip(chunk.chars().skip(1));
    let has_hump = neighbours.any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    let has_slash = chunk.contains('/') && (chunk.matches('/').count() > 1 || has_inner_dot);
    has_letter && (has_slash || chunk.contains('_') || has_inner_dot || has_hump)
}

fn is_extension(end: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=6).contains(&end.len()) && end.chars().all(is_sign)
}

/// The form in which a folded word is compared.
fn compared(word: &str) -> &str {
    let stem = stem(word);
    SYNONYMS.get(stem).map_or(stem, String::as_str)
}

/// A word without its commonest endings, English and French. It need not be a word: it must only
/// be the same for the forms of one.
fn stem(word: &str) -> &str {
    let mut stem = word;
    if !stem.ends_with("ss") {
        stem = without_ending(stem, &["s", "x"]);
    }
    stem = without_ending(stem, &["ing", "ed", "er", "ez", "e"]);
    stem = without_ending(stem, &["e"]);
    match stem.as_bytes() {
        [.., a, b] if a == b && b.is_ascii_alphabetic() && stem.len() > 3 => {
            &stem[..stem.len() - 1]
        }
        _ => stem,
    }
}

/// The word without the first of these endings that it has, if three letters of it are left.
fn without_ending<'w>(word: &'w str, endings: &[&str]) -> &'w str {
    let shorter = endings.iter().find_map(|ending| word.strip_suffix(ending));
    shorter.filter(|shorter| shorter.chars().nth(2).is_some()).unwrap_or(word)
}

/// Lower case, without accents.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'à'..='å' | 'ā' | 'ă' | 'ą' => out.push('a'),
            'ç' | 'ć' | 'č' => out.push('c'),
            'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => out.push('e'),
            'ì'..='ï' | 'ī' | 'į' => out.push('i'),
            'ñ' | 'ń' | 'ň' => out.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => out.push('o'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' => out.push('u'),
            'ý' | 'ÿ' => out.push('y'),
            'š' | 'ś' => out.push('s'),
            'ž' | 'ź' | 'ż' => out.push('z'),
            'œ' => out.push_str("oe"),
            'æ' => out.push_str("ae"),
            'ß' => out.push_str("ss"),
            // An accent that is a sign of its own, after its letter.
            '\u{300}'..='\u{36f}' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let said = sentences(text);
        said.iter().map(|one| one.iter().map(|token| token.text().to_owned()).collect()).collect()
    }

    #[test]
    fn forms_of_one_word_are_one() {
        for (one, other) in [
            ("crash", "crashes"),
            ("stop", "stopped"),
            ("ajouter", "ajoute"),
            ("affiché", "afficher"),
            ("toggle", "toggles"),
            ("implement", "add"),
            ("cafe\u{301}", "cafés"),
        ] {
            assert_eq!(words(one), words(other));
        }
        assert_ne!(words("pass"), words("past"));
    }

    #[test]
    fn sentences_end_at_their_signs_and_lines() {
        assert_eq!(
            words("Blue sky. Green tree\nRed rose"),
            words("blue sky\ngreen tree; red rose")
        );
        assert_eq!(words("1. Blue\n2) Green\n- Red"), words("Blue\nGreen\nRed"));
    }

    #[test]
    fn names_and_numbers_stay_whole() {
        let of = |text: &str| sentences(text).concat();

        assert_eq!(of("`src/a.rs`,"), [Token::Name("src/a.rs".to_owned())]);
        assert_eq!(of("userName."), [Token::Name("username".to_owned())]);
        assert_eq!(of("(2.5)"), [Token::Number("2.5".to_owned())]);
        assert_eq!(of("30%"), [Token::Number("30".to_owned())]);
        assert_eq!(of("l'arbre"), [Token::Word("arbr".to_owned())]);
    }

    #[test]
    fn empty_words_count_where_there_is_nothing_else() {
        assert_eq!(words("the").len(), 1);
        assert_eq!(words("T"), [["t"]]);
        assert!(words("!!! ---").is_empty());
    }
}
