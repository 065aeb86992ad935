//! The rules: what a credential looks like, and which part of what was found is the secret.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// Which part of a found value is secret, if any: given the text, where the rule's match starts,
/// and the value.
type Judge = fn(&str, usize, Range<usize>) -> Option<Range<usize>>;

/// A pattern whose capture groups are alternatives for the value, and its judge.
type Source = (String, Judge);

struct Rule {
    pattern: Regex,
    judge: Judge,
}

/// All rules, and one scan that says which of them match at all.
pub(super) struct Rules {
    set: RegexSet,
    each: Vec<Rule>,
}

pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let sources = [tokens(), headers(), addresses(), assignments()].concat();
    let set = RegexSet::new(sources.iter().map(|(pattern, _)| pattern));
    let each = sources.iter().map(|(pattern, judge)| Rule {
        pattern: Regex::new(pattern).expect("the patterns are constants, and tests compile them"),
        judge: *judge,
    });
    Rules {
        set: set.expect("the patterns are constants, and tests compile them"),
        each: each.collect(),
    }
});

impl Rules {
    /// Adds the spans of all secrets that the rules see in the text.
    pub(super) fn find_all(&self, text: &str, spans: &mut Vec<Range<usize>>) {
        for index in &self.set.matches(text) {
            self.each[index].find_all(text, spans);
        }
    }
}

impl Rule {
    fn find_all(&self, text: &str, spans: &mut Vec<Range<usize>>) {
        let mut at = 0;
        while let Some(found) = self.pattern.captures_at(text, at) {
            let Some(whole) = found.get(0) else { return };
            let value = found.iter().skip(1).flatten().next().map_or(0..0, |group| group.range());
            let judged = (self.judge)(text, whole.start(), value.clone());
            match judged.or_else(|| (value.len() > DOUBT_MAX_BYTES).then(|| value.clone())) {
                Some(secret) if !secret.is_empty() => {
                    at = secret.end;
                    spans.push(secret);
                }
                // What was taken for a value may itself begin with a name and its value.
                _ => at = text.ceil_char_boundary(value.start.max(whole.start() + 1)),
            }
        }
    }
}

/// A value longer than this is no word of a sentence, whatever its judge says. The bound also
/// keeps the time linear, since a refused value is read again for what it may hold itself.
const DOUBT_MAX_BYTES: usize = 256;
/// How far back a name is followed.
const NAME_MAX_BYTES: usize = 64;
/// How far back a line is looked at.
const LINE_MAX_BYTES: usize = 256;

/// Names whose value is a secret, as the end of a longer name too: `DB_PASSWORD`, `clientSecret`.
const NAMES: &str = "(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key\
    |(?:access|secret|private|account|shared|signing|encryption|master|auth|deploy)[_-]?key)";

/// Further parameter names that carry a secret in an address, but are ordinary words elsewhere.
const QUERY_NAMES: &str = "(?:key|sig|code|pass|auth|jwt|sid|session|sessionid|hapikey)";

/// Tokens known by how they begin. No word boundary in front: one may be glued to other text.
const TOKENS: &[&str] = &[
    // Our own, and those of the products whose contracts we speak.
    r"alch_[A-Za-z0-9_-]{8,}",
    r"vq_(?:org_)?(?:live|test)_[A-Za-z0-9_-]{8,}",
    // Git hosts.
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{16,}",
    r"ATATT3[A-Za-z0-9_=-]{20,}",
    r"ATBB[A-Za-z0-9]{24,}",
    // Clouds and infrastructure.
    r"(?:AKIA|ASIA)[A-Z0-9]{16,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"GOCSPX-[A-Za-z0-9_-]{20,}",
    r"1//0[A-Za-z0-9_-]{30,}",
    r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}",
    r"do[opr]_v1_[a-f0-9]{32,}",
    r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    r"dapi[a-f0-9]{32,}",
    r"sbp_[a-f0-9]{40,}",
    r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{20,}",
    r"fm[12]r?_[A-Za-z0-9+/=_-]{40,}",
    r"tskey-[a-z]+-[A-Za-z0-9-]{16,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}",
    // Payment.
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{8,}",
    r"whsec_[A-Za-z0-9+/=_-]{16,}",
    r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}",
    r"shp(?:at|ss|ca|pa)_[A-Za-z0-9]{32,}",
    // Model vendors.
    r"sk-(?:ant|proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{16,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"gsk_[A-Za-z0-9]{30,}",
    r"xai-[A-Za-z0-9]{40,}",
    r"nvapi-[A-Za-z0-9_-]{40,}",
    // Chat, mail, packages, trackers.
    r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{30,}",
    r"rubygems_[a-f0-9]{40,}",
    r"dckr_pat_[A-Za-z0-9_-]{20,}",
    r"lin_api_[A-Za-z0-9]{30,}",
    r"ntn_[A-Za-z0-9]{40,}",
    r"figd_[A-Za-z0-9_-]{30,}",
    r"sntry[su]_[A-Za-z0-9+/=_-]{30,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33,}",
    // JSON web tokens, signed and encrypted; with their last part missing too.
    concat!(
        r"eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]*|\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+)",
        r"(?:\.[A-Za-z0-9_-]*)*",
    ),
];

// None of the patterns may repeat something a counted number of times before its first fixed
// part: such a repetition is alive at every place of a text and makes the scan a thousand times
// slower. What has to stand before a name is looked at by the judge instead.

/// Credentials that are known by their own shape.
fn tokens() -> Vec<Source> {
    let known: Vec<String> = TOKENS.iter().map(|one| format!("({one})")).collect();
    vec![
        (known.join("|"), take),
        // Short or common beginnings ask for more before they count.
        (r"(?:^|[^A-Za-z0-9])(sk-[A-Za-z0-9]{20,}|SK[0-9a-f]{32}|cio[A-Za-z0-9]{32})".into(), take),
        (r"(assay_[A-Za-z0-9_-]{16,})".into(), |text, _, value| {
            mixed(&text[value.clone()]).then_some(value)
        }),
        (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----((?s:.)*?)(?:-----END|\z)".into(), take),
    ]
}

/// Headers, alone or quoted in a command or in JSON.
fn headers() -> Vec<Source> {
    let name = r#"(?i)authorization(?:\\*["'`])?[ \t]{0,8}[:=][ \t]{0,8}(?:\\*["'`])?"#;
    let scheme = concat!(
        r#"(?:(?:bearer|basic|token|apikey|api-key|negotiate|ntlm|dpop|key)[ \t]+"#,
        r#"([^\s"'`\\<>,;]+)"#,
        r"|(?:digest|oauth|hmac|mac|signature|aws4-hmac-[a-z0-9-]+)[ \t]+([^\r\n]+))",
    );
    // A cookie without quotes around its header may have some around its values.
    let cookie = concat!(
        r#"(?i)"(?:set-)?cookie2?:[ \t]*([^"\r\n]+)"#,
        r"|'(?:set-)?cookie2?:[ \t]*([^'\r\n]+)",
        r#"|cookie\\*["'][ \t]*:[ \t]*\\*["']([^"'\\\r\n]+)"#,
        r#"|cookie2?:[ \t]*([^\s=;:"'\\]+=[^\r\n"\\]*(?:"[^"\r\n\\]*"[^\r\n"\\]*)*)"#,
    );
    vec![
        (format!("{name}{scheme}"), take),
        (format!(r#"{name}([^\s"'`\\<>,;]+)"#), |text, _, value| {
            let word = &text[value.clone()];
            (word.len() >= 16 || random(word)).then_some(value)
        }),
        (r"(?i)bearer(?:[ \t]+|%20)([A-Za-z0-9._~+/=-]{4,})".into(), judge_bearer),
        (r"(?i)basic(?:[ \t]+|%20)([A-Za-z0-9+/_-]{8,}={0,2})".into(), |text, _, value| {
            let word = &text[value.clone()];
            (mixed(&word[1..]) || word.ends_with('=')).then_some(value)
        }),
        (cookie.into(), take),
    ]
}

/// User info, parameters and secret paths of addresses, and users given to curl.
fn addresses() -> Vec<Source> {
    let value = r#"(?:=|%3d)([^&\s#"'<>\\]+)"#;
    let hook = r"(?:hooks\.slack\.com/[a-z]+/|discord(?:app)?\.com/api/webhooks/)([A-Za-z0-9_/-]+)";
    vec![
        (r#"://([^\s/?#"'<>\\]+)@"#.into(), |text, _, value| {
            (&text[value.clone()] != "git").then_some(value)
        }),
        (format!("(?i)(?:{NAMES}|signature|credential){value}"), |text, start, value| {
            is_parameter(text, start).then_some(value)
        }),
        (format!("(?i)(?:[?#&]|&amp;){QUERY_NAMES}{value}"), take),
        (hook.into(), take),
        (r#"[ \t](?:-u|--user)[ \t=]*["']?([^\s"':]+:[^\s"']+)"#.into(), |text, start, value| {
            line_before(text, start).contains("curl").then_some(value)
        }),
    ]
}

/// Names with their values: settings, JSON, YAML, XML, flags, netrc.
fn assignments() -> Vec<Source> {
    let name =
        format!("(?i){NAMES}{}{}", r#"(?:\\*["'`])?[ \t]{0,8}"#, r"(?:=>|:=|[:=])[ \t]{0,8}");
    let quoted = concat!(
        r#"(?:"((?:[^"\\\r\n]|\\.)+)|'((?:[^'\\\r\n]|\\.)+)|`([^`\r\n]+)"#,
        r#"|\\+"((?:[^"\\\r\n]|\\[^"\r\n])+))"#,
    );
    let flag = r#"[ \t]+(?:"([^"\r\n]+)|'([^'\r\n]+)|([^\s"'-][^\s"']*))"#;
    vec![
        (format!("{name}{quoted}"), take),
        (format!(r#"{name}([^\s"'`]+)"#), judge_assignment),
        (format!(r"(?i){NAMES}>([^<\r\n]+)</"), take),
        (format!("(?i){NAMES}{flag}"), |text, start, value| {
            let (_, name) = split_name(text, start);
            (name.starts_with("--") && !prose(&text[value.clone()])).then_some(value)
        }),
        (r"(?i)login\s+\S+\s+password[ \t]+(\S+)".into(), take),
    ]
}

/// The whole value, whatever it is.
#[expect(clippy::unnecessary_wraps, reason = "it stands where other judges may refuse")]
fn take(_: &str, _: usize, value: Range<usize>) -> Option<Range<usize>> {
    Some(value)
}

/// A value after `Bearer`: not an ordinary word of a sentence, nor the start of a challenge such
/// as `Bearer realm="assay"`.
fn judge_bearer(text: &str, _: usize, value: Range<usize>) -> Option<Range<usize>> {
    let word = &text[value.clone()];
    let challenge = word.ends_with('=') && text[value.end..].starts_with('"');
    (!challenge && !prose(word)).then_some(value)
}

/// A value without quotes after a name and `=` or `:`.
fn judge_assignment(text: &str, start: usize, value: Range<usize>) -> Option<Range<usize>> {
    if is_parameter(text, start) {
        return None; // A parameter of an address ends at `&`: the rule for those takes it.
    }
    let found = &text[value.clone()];
    let is_pwd = text[start..value.start].get(..3).is_some_and(|n| n.eq_ignore_ascii_case("pwd"));
    if prose(found) || (is_pwd && found.starts_with(['/', '~'])) {
        return None;
    }
    // `user=a;password=b;host=c`: the next pair is not part of the value.
    let mut end = value.end;
    for (at, _) in found.match_indices(['&', ';', ',']) {
        let rest = found[at + 1..].trim_start_matches(is_name);
        if rest.len() + at + 1 < found.len() && rest.starts_with('=') {
            end = value.start + at;
            break;
        }
    }
    let value = value.start..end;
    let found = found[..value.len()].trim_end_matches(['.', ',', ';', ')', '}']);
    let tight = text[..value.start].ends_with('=');
    if !tight && found.starts_with(['=', ':', '>', '\\']) {
        return None; // `a::b`, `a == b`, `a: \"b\"`.
    }
    let after = text[value.end..].chars().next();
    let alone =
        found.len() == value.len() && matches!(after, None | Some('\r' | '\n' | '"' | '\''));
    (tight || (alone && !is_code(found)) || random(found))
        .then(|| value.start..value.start + found.len())
}

/// Whether a character can be part of a longer name.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The part of a name that stands before its known end at `start`, and all before it.
fn split_name(text: &str, start: usize) -> (&str, &str) {
    // Bounded, or a long run of names would be walked once for each of them.
    let from = text.floor_char_boundary(start.saturating_sub(NAME_MAX_BYTES));
    let near = &text[from..start];
    let before = near.trim_end_matches(is_name);
    (before, &near[before.len()..])
}

/// Whether the name that ends at `start` is that of a parameter in an address.
fn is_parameter(text: &str, start: usize) -> bool {
    let (before, _) = split_name(text, start);
    before.ends_with(['?', '&', '#']) || before.ends_with("&amp;")
}

/// What stands on the same line before `start`, as far as it matters.
fn line_before(text: &str, start: usize) -> &str {
    let from = text.floor_char_boundary(start.saturating_sub(LINE_MAX_BYTES));
    text[from..start].rsplit(['\n', '\r']).next().unwrap_or("")
}

/// Whether a word after a name is part of a sentence, or an empty value.
fn prose(word: &str) -> bool {
    const WORDS: [&str; 44] = [
        "token",
        "tokens",
        "auth",
        "authentication",
        "authorization",
        "authorisation",
        "key",
        "keys",
        "header",
        "headers",
        "scheme",
        "credential",
        "credentials",
        "value",
        "values",
        "of",
        "is",
        "or",
        "and",
        "in",
        "with",
        "for",
        "the",
        "must",
        "was",
        "from",
        "to",
        "on",
        "as",
        "at",
        "may",
        "can",
        "has",
        "not",
        "flag",
        "option",
        "argument",
        "setting",
        "required",
        "missing",
        "null",
        "none",
        "true",
        "false",
    ];
    let word = word.trim_end_matches(|c: char| c.is_ascii_punctuation());
    word.is_empty() || WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a value reads as an expression of a program rather than as a secret.
fn is_code(word: &str) -> bool {
    word.contains(['(', '{', '<']) || word.contains("::")
}

/// Whether a value has the look of something generated, or of a password with a digit.
fn random(word: &str) -> bool {
    word.len() >= 6 && !is_code(word) && word.bytes().any(|b| b.is_ascii_digit())
}

/// Whether a word has a digit, or both cases: names in programs and metrics have neither.
fn mixed(word: &str) -> bool {
    let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
    has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}
