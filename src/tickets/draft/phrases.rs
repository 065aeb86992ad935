//! What sentences of a conversation are for, English and French.

/// Words that a sentence may begin with before it comes to the point.
const OPENINGS: [&str; 24] = [
    "hi", "hello", "hey", "so", "ok", "okay", "then", "also", "now", "please", "and", "well",
    "yes", "great", "thanks", "bonjour", "salut", "alors", "bon", "et", "oui", "merci", "donc",
    "ensuite",
];

/// Phrases that make an order of what follows them.
const ASKING: [&str; 38] = [
    "can you",
    "could you",
    "would you",
    "will you",
    "i want you to",
    "i need you to",
    "i'd like you to",
    "i would like you to",
    "i want to",
    "i need to",
    "i'd like to",
    "i would like to",
    "we need to",
    "we want to",
    "we should",
    "we must",
    "you should",
    "let's",
    "let us",
    "please",
    "peux-tu",
    "pouvez-vous",
    "pourrais-tu",
    "pourriez-vous",
    "peut-on",
    "il faut",
    "il faudrait",
    "il faudra",
    "on doit",
    "on devrait",
    "nous devons",
    "tu dois",
    "vous devez",
    "merci de",
    "je voudrais",
    "j'aimerais",
    "je veux",
    "nous voulons",
];

/// Phrases that ask for a thing, which is then to be added.
const WANTING: [&str; 9] = [
    "i want",
    "i need",
    "i'd like",
    "i would like",
    "we need",
    "we want",
    "je veux",
    "il nous faut",
    "il faut",
];

const ARTICLES: [&str; 5] = ["a", "an", "some", "un", "une"];

/// Words that an order begins with.
const ORDERS: &str = "add allow backfill build bump change check clean compress convert create \
    delete disable document drop enable ensure export extend extract fix handle hide implement \
    import improve increase introduce let limit link load log make merge migrate move prevent \
    print put raise read reduce refactor remove rename reorder repair replace restrict return \
    rewrite run send set show simplify sort speed split stop store support switch test translate \
    turn update upgrade use validate verify write \
    ajoute ajouter ajoutez affiche afficher affichez corrige corriger corrigez crée créer \
    créez change changer changez déplace déplacer écris écrire exporte exporter importe \
    importer met mettre mets modifie modifier modifiez permets permettre remplace \
    remplacer renomme renommer répare réparer retire retirer supprime supprimer supprimez \
    traduis traduire trie trier utilise utiliser vérifie vérifier";

/// Words after an order that point at something said elsewhere.
const POINTING: [&str; 17] = [
    "it", "that", "this", "them", "these", "those", "so", "one", "same", "both", "instead", "ça",
    "cela", "ceci", "tout", "pareil", "celui-ci",
];

/// Words of which a turn is made that only agrees.
const AGREEING: &str = "yes yep yeah ok okay sure please thanks thank you great perfect go ahead \
    do it that sounds good right exactly agreed agree lgtm fine works for me all nice cool then so \
    now oui merci parfait d'accord accord vas-y vas allez-y allez ça ca marche bien très super \
    exactement c'est bon fais-le fais le beaucoup alors";

/// Words of which a question is made that only asks whether to go on.
const EMPTY: &str = "shall should may can could would do does is are am was i we you me us this \
    the to with like want if be a an start begin proceed continue correct alright it's that's \
    est-ce que je on tu vous te le la les cela ceci dois-je puis-je peux-je peut-on doit-on \
    veux-tu voulez-vous convient convient-il commence continue va";

/// Words that begin a question which no yes answers.
const OPEN: &str = "what which who whom whose when where why how quel quelle quels quelles qui \
    quoi quand où comment pourquoi combien lequel laquelle";

/// Words that a yes begins with.
const YES: [&str; 18] = [
    "yes", "yep", "yeah", "ok", "okay", "sure", "agreed", "perfect", "great", "exactly", "fine",
    "lgtm", "go", "sounds", "oui", "d'accord", "parfait", "vas-y",
];

const CONSTRAINTS: [&str; 26] = [
    "must",
    "never",
    "only",
    "without",
    "don't",
    "do not",
    "cannot",
    "no more than",
    "at most",
    "at least",
    "keep",
    "not allowed",
    "avoid",
    "should not",
    "shouldn't",
    "doit",
    "doivent",
    "jamais",
    "uniquement",
    "seulement",
    "sans",
    "au plus",
    "au moins",
    "interdit",
    "éviter",
    "ne pas",
];

const PROPOSALS: [&str; 14] = [
    "i will",
    "i'll",
    "we will",
    "we'll",
    "let's",
    "i would",
    "i'd",
    "i propose",
    "i suggest",
    "je vais",
    "on va",
    "nous allons",
    "je propose",
    "on peut",
];

const ACCEPTANCE: [&str; 6] =
    ["acceptance", "done when", "definition of done", "criteria", "critères", "recette"];

const ACCEPTING: [&str; 5] =
    ["it is done when", "done when", "it works when", "c'est fini quand", "terminé quand"];

/// The sentences and entries of a text, without what stands in code blocks.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            split(line.trim(), &mut out);
        }
    }
    out
}

fn split<'t>(line: &'t str, out: &mut Vec<&'t str>) {
    let mut rest = line;
    while let Some(end) = end_of_first(rest) {
        let (first, next) = rest.split_at(end);
        out.push(first.trim());
        rest = next;
    }
    if !rest.trim().is_empty() {
        out.push(rest.trim());
    }
}

/// Behind the sign that ends the first sentence, where another one follows.
fn end_of_first(text: &str) -> Option<usize> {
    let ends = |(at, sign): &(usize, &str)| {
        let behind = &text[at + sign.len()..];
        let before = &text[..*at];
        let is_number = before.chars().all(|c| c.is_ascii_digit()) && *sign == ".";
        behind.starts_with(' ') && !before.trim().is_empty() && !is_number
    };
    let signs = text.match_indices(['.', '!', '?']);
    signs.filter(|found| ends(found)).map(|(at, sign)| at + sign.len()).next()
}

/// A sentence that asks for something, as an order, if it says itself what it is about.
pub(super) fn order(sentence: &str) -> Option<String> {
    let said = after_openings(sentence.trim_start_matches(['-', '*', '+', ' ']));
    let lower = said.to_lowercase();
    // Lower case may have another length in a few scripts; then nothing is cut by it.
    if lower.len() != said.len() {
        return None;
    }
    let after = |phrases: &[&'static str]| {
        let mut sorted = phrases.to_vec();
        sorted.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
        let found = sorted.into_iter().find(|phrase| follows(&lower, phrase))?;
        Some((said.get(found.len()..)?.trim_start_matches([' ', ',']), found))
    };
    let wanted = after(&WANTING).filter(|(rest, _)| ARTICLES.contains(&first_word(rest).as_str()));
    let order = if let Some((thing, phrase)) = wanted {
        let is_french = ["je", "il"].contains(&phrase.split(' ').next().unwrap_or(""));
        format!("{} {thing}", if is_french { "Ajouter" } else { "Add" })
    } else {
        let rest = after(&ASKING).map_or(said, |(rest, _)| rest);
        let rest = after_openings(rest);
        let is_order = ORDERS.split_whitespace().any(|word| word == first_word(rest));
        is_order.then(|| rest.to_owned())?
    };
    let order = tidy(&order);
    is_about_itself(&order).then_some(order)
}

fn follows(text: &str, phrase: &str) -> bool {
    text.strip_prefix(phrase).is_some_and(|rest| rest.starts_with([' ', ',']))
}

fn after_openings(text: &str) -> &str {
    let mut rest = text.trim();
    loop {
        let word = first_word(rest);
        if !OPENINGS.contains(&word.as_str()) {
            return rest;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest = rest[end..].trim_start();
    }
}

fn first_word(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or("");
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// With a capital, on one line, without its last sign and without a last please.
fn tidy(order: &str) -> String {
    let words: Vec<&str> = order.split_whitespace().collect();
    let mut order = words.join(" ");
    for end in ["please", "s'il te plaît", "s'il vous plaît", "stp", "svp"] {
        let kept = order.trim_end_matches(['.', '!', '?', ' ', ',', ':']);
        order = kept.strip_suffix(end).unwrap_or(kept).to_owned();
    }
    let kept = order.trim_end_matches(['.', '!', '?', ' ', ',', ':']);
    let mut letters = kept.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// Three words or more, none of the first of which points elsewhere.
fn is_about_itself(order: &str) -> bool {
    let words: Vec<String> = order.split_whitespace().map(first_word).collect();
    let points = |word: &String| POINTING.contains(&word.as_str());
    words.len() >= 3 && !words.iter().take(3).any(points)
}

/// Whether a turn says nothing but yes and thanks.
pub(super) fn only_agrees(text: &str) -> bool {
    let sign = |c: char| !c.is_alphanumeric() && c != '\'' && c != '-';
    let mut words = text.split(sign).filter(|word| !word.is_empty());
    let known = |word: &str| {
        let word = word.to_lowercase().replace('’', "'");
        AGREEING.split_whitespace().any(|known| known == word)
    };
    text.chars().count() <= 80 && words.all(known)
}

/// Whether a question can be answered with yes, and says what that yes would mean.
pub(super) fn asks_for_a_yes(question: &str) -> bool {
    let known = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    let words: Vec<String> = question.split_whitespace().map(first_word).collect();
    let is_open = words.first().is_some_and(|word| known(OPEN, word));
    let says = |word: &String| !known(EMPTY, word) && !known(AGREEING, word);
    !is_open && words.iter().filter(|word| !word.is_empty()).any(says)
}

/// Whether a turn begins with a yes.
pub(super) fn begins_with_yes(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or("").to_lowercase().replace('’', "'");
    YES.contains(&word.trim_end_matches(|c: char| !c.is_alphanumeric()))
        || (only_agrees(text) && !text.trim().is_empty())
}

/// Whether a sentence says what must or must not be.
pub(super) fn is_constraint(sentence: &str) -> bool {
    has_phrase(sentence, &CONSTRAINTS)
}

/// Whether a sentence of an assistant says what it would do.
pub(super) fn is_proposal(sentence: &str) -> bool {
    sentence.starts_with(['-', '*', '+']) || has_phrase(sentence, &PROPOSALS)
}

fn has_phrase(sentence: &str, phrases: &[&str]) -> bool {
    let said = sentence.to_lowercase().replace('’', "'");
    phrases.iter().any(|phrase| {
        said.match_indices(phrase).any(|(at, _)| {
            let (before, behind) = (&said[..at], &said[at + phrase.len()..]);
            !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric)
        })
    })
}

/// The acceptance points of a text: entries under such a heading, and what says when it is done.
pub(super) fn acceptance(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut is_under = false;
    for line in text.lines().map(str::trim) {
        let said = line.trim_start_matches(['#', '*', ' ']).to_lowercase();
        let begins = ACCEPTANCE.iter().any(|word| said.starts_with(word));
        let is_entry = line.starts_with(['-', '*', '+']) || said.starts_with(char::is_numeric);
        if begins && !is_entry {
            is_under = true;
            let behind = line.split_once(':').map_or("", |(_, behind)| behind);
            let behind = behind.trim_matches(['*', ' ']);
            out.extend(Some(behind).filter(|said| !said.is_empty()).map(str::to_owned));
        } else if is_under && is_entry {
            out.push(line.to_owned());
        } else if !line.is_empty() {
            is_under = false;
            let says = |said: &&str| ACCEPTING.iter().any(|it| said.to_lowercase().starts_with(it));
            out.extend(sentences(line).into_iter().filter(says).map(str::to_owned));
        }
    }
    out
}

/// A path, a file name or an address, as it was written.
pub(super) fn place(word: &str) -> Option<&str> {
    let sign = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '~' | '[' | ']');
    let place = word.trim_matches(sign).trim_end_matches(['.', ']']).trim_start_matches('[');
    if place.contains("://") {
        return Some(place);
    }
    let (start, end) = place.rsplit_once('.')?;
    let is_extension = (1..=8).contains(&end.len())
        && end.starts_with(|c: char| c.is_ascii_lowercase())
        && end.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_name = start.chars().count() > 1 && !place.contains(['@', '(', '`', '"']);
    (is_extension && is_name && !place.contains('`')).then_some(place)
}
