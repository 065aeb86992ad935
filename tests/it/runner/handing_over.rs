//! What an agent is given, and what it hands back.

use super::*;

#[tokio::test]
async fn an_agent_gets_its_prompt_and_environment_and_hands_back_its_report() {
    let place = Place::new();
    let (launch, mut lines) = place.script(
        "cat > prompt; env > env; pwd > cwd; echo said hunter2 and $ASSAY_KEY; \
         echo oops >&2; echo '{\"outcome\":\"done\",\"summary\":\"key: '$ASSAY_KEY'\"}' \
         > \"$ASSAY_REPORT\"",
    );
    let prompt = launch.prompt.clone();

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, ended.failure()), (Exit::Code(0), None));
    let Handed::Report(report) = ended.report else { panic!("{:?}", ended.report) };
    assert_eq!((report.outcome, report.summary.as_str()), (Outcome::Done, "key: [key]"));
    let read = |name: &str| fs::read_to_string(place.tree().join(name)).unwrap();
    assert_eq!(read("prompt"), prompt);
    assert_eq!(Path::new(read("cwd").trim_end()), place.tree().canonicalize().unwrap());
    let names = read("env");
    assert!(names.contains("ASSAY_URL=http://here") && names.contains("PATH="), "{names}");
    assert!(!names.contains("CARGO"), "{names}");
    let mut log = Vec::new();
    while let Some(line) = lines.recv().await {
        log.push((line.stream, line.text));
    }
    log.sort();
    let expected = [(Stream::Stdout, "said [redacted] and [key]"), (Stream::Stderr, "oops")];
    assert_eq!(log, expected.map(|(stream, text)| (stream, text.to_owned())));
}

#[tokio::test]
async fn a_prompt_longer_than_a_pipe_holds_does_not_wait_for_an_agent_that_reads_nothing() {
    let place = Place::new();
    let (mut launch, _lines) = place.script("echo no thanks");
    launch.prompt = "x".repeat(1 << 20);

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, ended.tail), (Exit::Code(0), vec!["no thanks".to_owned()]));
}

#[tokio::test]
async fn a_prompt_can_come_in_a_file_or_as_an_argument() {
    for (by, placeholder) in [(PromptBy::File, "{promptFile}"), (PromptBy::Argument, "{prompt}")] {
        let place = Place::new();
        let show = r#"if [ -f "$1" ]; then cat "$1"; else printf %s "$1"; fi; cat"#;
        let (mut launch, _lines) = place.agent(&["sh", "-c", show, "sh", placeholder]);
        launch.profile.prompt = by;

        let ended = ends(&place, launch).await;

        assert_eq!(ended.tail, ["Node: implement", "Ticket: ACME-1", "Title: Say hello"]);
    }
}

#[tokio::test]
async fn a_missing_agent_is_exit_code_127_and_says_what_to_do() {
    let place = Place::new();
    let (launch, _lines) = place.agent(&["no-such-agent-here", "--flag"]);

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, &ended.report), (Exit::Code(127), &Handed::Missing));
    let failure = ended.failure().unwrap();
    assert!(failure.contains("no-such-agent-here"), "{failure}");
    assert!(failure.contains("Check that it is installed"), "{failure}");
}

#[tokio::test]
async fn an_agent_that_ends_well_without_a_report_left_none() {
    let place = Place::new();
    fs::create_dir(place.file("run")).unwrap();
    fs::write(place.file("run/report.json"), r#"{"outcome":"done"}"#).unwrap();
    let (launch, _lines) = place.script("true");

    let ended = ends(&place, launch).await;

    // The report of an earlier run is not taken for this one's.
    assert_eq!((ended.exit, &ended.report), (Exit::Code(0), &Handed::Missing));
    assert_eq!(ended.report.problem().unwrap(), "The agent left no report.");
}

#[tokio::test]
async fn an_invalid_report_names_its_problems_and_a_text_stands_for_one() {
    for (text, problem) in [
        ("{\"outcome\":\"great\"}", Some("outcome: must be done, failed, needs_input or")),
        ("{\"outcome\":", Some("It is not valid JSON")),
        ("# Did it", None),
    ] {
        let place = Place::new();
        let (mut launch, _lines) = place.script("printf %s \"$TEXT\" > \"$ASSAY_REPORT\"");
        launch.profile.set.insert("TEXT".to_owned(), text.to_owned());

        let report = ends(&place, launch).await.report;

        let said = report.problem();
        match problem {
            Some(part) => assert!(said.as_deref().unwrap().contains(part), "{said:?}"),
            None => assert_eq!(report.settle(true).unwrap().summary, "# Did it"),
        }
    }
}

#[tokio::test]
async fn no_agent_starts_outside_a_worktree() {
    let place = Place::new();
    let spoil: [fn(&Path); 3] = [
        |tree| fs::remove_dir_all(tree).unwrap(),
        |tree| fs::create_dir(tree).unwrap(),
        |tree| {
            fs::remove_dir(tree).unwrap();
            fs::create_dir_all(tree.with_file_name("other/.git")).unwrap();
            std::os::unix::fs::symlink("other", tree).unwrap();
        },
    ];

    for (spoil, why) in spoil.iter().zip(["does not exist", "has no .git", "not a folder"]) {
        spoil(&place.tree());
        let (launch, _lines) = place.script("echo > ../begun");
        let fault = run(launch, recorded, CancellationToken::new()).await.unwrap_err();
        assert!(fault.message.contains(why), "{fault}");
    }
    assert!(!place.file("begun").exists());
}

#[tokio::test]
async fn the_demonstration_agent_edits_the_page_and_reports() {
    let place = Place::new();
    fs::write(place.tree().join("index.html"), "<body>\n</body>\n").unwrap();
    let (mut launch, _lines) = place.script("");
    launch.profile = Profile::demonstration(ASSAY);

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, ended.failure()), (Exit::Code(0), None));
    assert_eq!(ended.report.settle(true).unwrap().outcome, Outcome::Done);
    let page = fs::read_to_string(place.tree().join("index.html")).unwrap();
    assert!(page.contains("<h2>Say hello</h2>"), "{page}");
}
