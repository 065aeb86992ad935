//! Projects through the store: making them, naming them, and which one a call means.

use assay::accounts::{Actor, Plan, Reach, Tenant};
use assay::base::{Code, Fault, ProjectId};
use assay::projects::settings::VerifyCommand;
use assay::projects::{self, NewProject, Project, categories, environments};

use crate::accounts::Fixture;

fn create(at: &Fixture, tenant: &Tenant, new: NewProject<'static>) -> Result<Project, Fault> {
    let tenant = tenant.id;
    at.write(move |tx| projects::create(tx, tenant, new))
}

fn named(name: &'static str) -> NewProject<'static> {
    NewProject { name, ..NewProject::default() }
}

fn local(tenant: &Tenant) -> Actor {
    Actor::local(tenant.id, Plan::All)
}

#[test]
fn a_new_project_has_a_key_a_slug_and_its_production_environment() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");

    let new = NewProject { base_url: Some("https://acme.example"), ..named(" Acme Widgets ") };
    let project = create(&at, &acme, new).unwrap();

    assert_eq!(project.name, "Acme Widgets");
    assert_eq!((project.slug.as_str(), project.short_name()), ("acme-widgets", "ACME"));
    let all = at.read(|read| environments::list(read, acme.id, project.id)).unwrap();
    assert_eq!((all[0].name.as_str(), all[0].is_default), ("Production", true));
    assert_eq!(all[0].base_url, "https://acme.example");
    assert_eq!(at.read(|read| projects::find(read, acme.id, project.id)).unwrap(), Some(project));
}

#[test]
fn names_may_be_shared_and_keys_and_slugs_may_not() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");

    let one = create(&at, &acme, named("Acme Widgets")).unwrap();
    let two = create(&at, &acme, named("acme  widgets")).unwrap();
    let taken = create(&at, &acme, NewProject { key: Some("acme"), ..named("Other") });

    assert_eq!((one.short_name(), two.short_name()), ("ACME", "ACME2"));
    assert_eq!(two.slug, "acme-widgets-2");
    assert_eq!(taken.unwrap_err().code, Code::Conflict);
    let elsewhere = create(&at, &at.tenant("Other"), named("Acme Widgets")).unwrap();
    assert_eq!(elsewhere.short_name(), "ACME");
}

#[test]
fn what_cannot_be_a_project_is_refused_with_its_path() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let cases = [
        ("name", NewProject { name: " ", ..NewProject::default() }),
        ("name", NewProject { name: "a\nb", ..NewProject::default() }),
        ("key", NewProject { key: Some("1A"), ..named("x") }),
        ("key", NewProject { key: Some("A-B"), ..named("x") }),
        ("key", NewProject { key: Some("ABCDEFGHIJKLM"), ..named("x") }),
        ("baseUrl", NewProject { base_url: Some("ftp://x"), ..named("x") }),
        ("repository", NewProject { repository: Some("--upload-pack=x"), ..named("x") }),
        ("repository", NewProject { repository: Some("relative/path"), ..named("x") }),
        ("repository", NewProject { repository: Some("/a\n/b"), ..named("x") }),
        ("baseBranch", NewProject { base_branch: Some("-x"), ..named("x") }),
        ("baseBranch", NewProject { base_branch: Some("a..b"), ..named("x") }),
        ("baseBranch", NewProject { base_branch: Some("main@{1}"), ..named("x") }),
    ];
    for (path, new) in cases {
        let shown = format!("{new:?}");

        let fault = create(&at, &acme, new).expect_err(&shown);

        assert_eq!(fault.code, Code::InvalidArgument, "{shown}");
        assert_eq!(fault.issues[0].path, path, "{shown}");
    }
}

#[test]
fn a_saved_change_is_there_and_moves_the_default_environment() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let mut project = create(&at, &acme, named("Acme")).unwrap();
    project.base_url = Some("https://one.example".to_owned());
    let mut project = at.write(move |tx| projects::save(tx, project)).unwrap();

    project.base_url = Some("https://two.example".to_owned());
    project.repository = Some("/srv/acme".to_owned());
    project.settings.verify.push(VerifyCommand::new("tests", "make test"));
    let saved = at.write(move |tx| projects::save(tx, project)).unwrap();

    let found = at.read(|read| projects::find(read, acme.id, saved.id)).unwrap().unwrap();
    assert_eq!(found, saved);
    let all = at.read(|read| environments::list(read, acme.id, saved.id)).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].base_url, "https://two.example");
}

#[test]
fn settings_that_cannot_work_are_not_saved() {
    let at = Fixture::new();
    let mut project = create(&at, &at.tenant("Acme"), named("Acme")).unwrap();
    project.settings.agents.default = Some("nobody".to_owned());

    let fault = at.write(move |tx| projects::save(tx, project)).unwrap_err();

    assert_eq!(fault.issues[0].path, "settings.agents.default");
}

#[test]
fn a_text_names_a_project_by_id_key_slug_or_name() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let widgets = create(&at, &acme, named("Acme Widgets")).unwrap();
    let plain = create(&at, &acme, named("Acme")).unwrap();
    let id = widgets.id.to_string();
    let cases = [
        (id.as_str(), &widgets),
        ("ACME", &widgets),
        ("acme-widgets", &widgets),
        (" ACME  widgets ", &widgets),
        ("Acme", &plain),
        ("acme", &plain),
        ("ACME2", &plain),
        ("acme2", &plain),
    ];
    for (text, meant) in cases {
        let found = at.read(|read| projects::named(read, &local(&acme), text)).expect(text);

        assert_eq!(found.id, meant.id, "{text}");
    }
}

#[test]
fn an_id_wins_over_a_name_and_a_name_over_the_default_and_that_over_the_only_project() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let ask = |actor: &Actor, id: Option<ProjectId>, name: Option<&str>| {
        at.read(|read| projects::resolve(read, actor, id, name))
    };
    let nobody = local(&acme);
    assert_eq!(ask(&nobody, None, None).unwrap_err().code, Code::MissingProject);
    let one = at.project(&acme, "One");
    assert_eq!(ask(&nobody, None, Some(" ")).unwrap().id, one);
    let (two, three) = (at.project(&acme, "Two"), at.project(&acme, "Three"));
    let with_default = Actor { default_project: Some(three), ..local(&acme) };

    assert_eq!(ask(&with_default, Some(one), Some("Two")).unwrap().id, one);
    assert_eq!(ask(&with_default, None, Some("Two")).unwrap().id, two);
    assert_eq!(ask(&with_default, None, None).unwrap().id, three);
    let missing = ask(&nobody, None, None).unwrap_err();
    assert_eq!(missing.code, Code::MissingProject);
    assert!(missing.message.contains("ONE, THREE or TWO"), "{missing:?}");
}

#[test]
fn a_limited_caller_sees_and_means_only_its_projects() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let near = create(&at, &acme, named("Same")).unwrap();
    let far = create(&at, &acme, named("Same")).unwrap();
    let limited = Actor { reach: Reach::Only(vec![near.id]), ..local(&acme) };
    let ask = |actor: &Actor, name: Option<&str>| {
        at.read(|read| projects::resolve(read, actor, None, name))
    };

    assert_eq!(ask(&limited, None).unwrap().id, near.id);
    assert_eq!(ask(&limited, Some("same")).unwrap().id, near.id);
    assert_eq!(ask(&limited, Some(far.short_name())).unwrap_err().code, Code::Forbidden);
    assert_eq!(ask(&limited, Some("absent")).unwrap_err().code, Code::ProjectNotFound);
    let listed = at.read(|read| projects::list(read, &limited, 10, None)).unwrap();
    assert_eq!(listed.len(), 1);

    let ambiguous = ask(&local(&acme), Some("SaME")).unwrap_err();
    assert_eq!(ambiguous.code, Code::AmbiguousProject);
    assert!(ambiguous.issues[1].message.contains(&far.id.to_string()), "{ambiguous:?}");
}

#[test]
fn a_list_is_read_in_pages_by_name() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    for name in ["b", "D", "a", "C"] {
        at.project(&acme, name);
    }
    at.project(&at.tenant("Other"), "aa");
    let page = |after| at.read(|read| projects::list(read, &local(&acme), 2, after)).unwrap();

    let first = page(None);
    let second = page(Some(first[1].id));

    let names = |page: &[Project]| -> Vec<String> {
        page.iter().map(|project| project.name.clone()).collect()
    };
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(names(&second), ["C", "D"]);
    assert!(page(Some(second[1].id)).is_empty());
}

#[test]
fn ticket_numbers_start_at_one_and_are_given_once() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let (one, two) = (at.project(&acme, "One"), at.project(&acme, "Two"));
    let next = |id| at.write(move |tx| projects::next_number(tx, acme.id, id)).unwrap();

    assert_eq!([next(one), next(one), next(two), next(one)], [1, 2, 1, 3]);
}

#[test]
fn a_category_is_made_once_whatever_the_spelling() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let project = at.project(&acme, "One");
    let ensure =
        |name: &'static str| at.write(move |tx| categories::ensure(tx, acme.id, project, name));

    let first = ensure("Auth & Billing").unwrap();

    assert_eq!(ensure("  auth &  billing").unwrap(), first);
    assert!(ensure(" ").is_err());
    let all = at.read(|read| categories::list(read, acme.id, project)).unwrap();
    assert_eq!(all, [first]);
}

#[test]
fn an_environment_is_chosen_by_name_or_is_the_default() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let new = NewProject { base_url: Some("https://acme.example"), ..named("Acme") };
    let project = create(&at, &acme, new).unwrap();
    let bare = at.project(&acme, "Bare");
    let choose = |project, text: Option<&str>| {
        at.read(|read| environments::choose(read, acme.id, project, text))
    };

    for text in [None, Some("production"), Some("Production"), Some(" ")] {
        assert!(choose(project.id, text).unwrap().is_some(), "{text:?}");
    }
    assert_eq!(choose(project.id, Some("staging")).unwrap_err().code, Code::ProjectNotFound);
    assert_eq!(choose(bare, None).unwrap(), None);
}
