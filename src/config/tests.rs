use hornbook_accounts::tier::{FreeTier, PackName, Tariff};

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}

fn flags(pairs: &[(&str, &str)]) -> Vec<FlagValue> {
    let flag = |(setting, value): &(&str, &str)| FlagValue {
        setting: (*setting).to_owned(),
        value: (*value).to_owned(),
        flag: "--set",
    };
    pairs.iter().map(flag).collect()
}

/// The error that loading this file returns.
fn refusal_of_file(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hornbook.toml");
    std::fs::write(&file, text).unwrap();
    Config::load(Some(&file), [], []).unwrap_err().to_string()
}

fn refusal_of_flag(setting: &str, value: &str) -> String {
    Config::load(None, [], flags(&[(setting, value)])).unwrap_err().to_string()
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hornbook.toml");
    let text =
        "[free]\nprofile = \"grant\"\nper_minute = 11\nper_day = 12\nmonthly_units = 13\n[pack_pro]\ncredits = 6_000\n";
    std::fs::write(&file, text).unwrap();
    let environment =
        environment(&[("HORNBOOK_FREE_PER_MINUTE", "21"), ("HORNBOOK_FREE_PER_DAY", "22"), ("PATH", "/bin")]);
    let config = Config::load(Some(&file), environment, flags(&[("free.per_minute", "31")])).unwrap();
    let tariff = config.tariff();
    assert_eq!((tariff.free.limits.per_minute, tariff.free.limits.per_day, tariff.free.monthly_units), (31, 22, 13));
    assert_eq!((tariff.free.credits_on_approval.0, tariff.pack(PackName::Pro).credits.0), (500, 6000));
}

#[test]
fn without_settings_prices_and_limits_are_the_contracts() {
    assert_eq!(Config::load(None, [], []).unwrap().tariff(), Tariff::CONTRACT);
    let grant = Config::load(None, [], flags(&[("free.profile", "grant")])).unwrap();
    assert_eq!(grant.tariff(), Tariff { free: FreeTier::GRANT, ..Tariff::CONTRACT });
}

#[test]
fn one_address_cannot_use_up_the_connections_by_default() {
    let server = Config::load(None, [], []).unwrap().server;
    assert!(server.connections_per_address_max.get() <= server.connections_max.get() / 6);
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    assert!(refusal_of_flag("free.per_minut", "1").ends_with("did you mean free.per_minute?"));
    let error = Config::load(None, environment(&[("HORNBOOK_FRE_PER_DAY", "1")]), []).unwrap_err().to_string();
    assert!(error.ends_with("did you mean HORNBOOK_FREE_PER_DAY?"), "{error}");
    for (text, line, nearest) in [
        ("[ledgr]\ndurability = \"window\"\n", 2, "ledger.durability"),
        ("listen = 8480\n", 1, "server.listen"),
        ("\n\n[server.lisen]\nport = 1\n", 3, "server.listen"),
        ("[payments]\nstripe_secrte_key = \"sk\"\n", 2, "payments.stripe_secret_key"),
    ] {
        let error = refusal_of_file(text);
        assert!(error.contains(&format!("hornbook.toml:{line} sets ")), "{error}");
        assert!(error.contains("is not a setting") && error.contains(nearest), "{error}");
    }
}

#[test]
fn a_clients_key_in_the_environment_is_no_setting() {
    assert!(Config::load(None, environment(&[("HORNBOOK_KEY", "hb_live_x")]), []).is_ok());
}

#[test]
fn every_value_is_checked_where_it_is_read() {
    for (setting, value, reported) in [
        ("server.listen", "", "an IP address and a port"),
        ("server.listen", "8480", "write \"127.0.0.1:8480\""),
        ("server.listen", ":8480", "write \"127.0.0.1:8480\""),
        ("server.listen", "localhost:8480", "write \"127.0.0.1:8480\""),
        ("metrics.listen", "law.example:9090", "an IP address and a port"),
        ("server.base_url", "law.example.org", "a URL"),
        ("server.base_url", "https://law.example.org/?a=b", "a URL"),
        ("server.base_url", "https:///", "a URL"),
        ("server.connections_max", "0", "from 1 to"),
        ("server.permits", "0", "from 1 to"),
        ("server.head_seconds", "0", "from 1 to 86400"),
        ("server.idle_seconds", "90000", "from 1 to 86400"),
        ("server.cross_origins", "https://a.example, *", "an origin"),
        ("server.cross_origins", "https://a.example/", "an origin"),
        ("server.proxies", "10.0.0.0/8, everybody", "an address or network"),
        ("server.proxy_protocol", "maybe", "on or off"),
        ("data.dir", "", "a path"),
        ("free.per_minute", "many", "a whole number"),
        ("free.per_minute", "-1", "a whole number"),
        ("pack_pro.credits", "3000000000", "to 1000000000"),
        ("ledger.durability", "maybe", "strict or window"),
        ("log.requests", "some", "all, errors or none"),
        ("payments.provider", "paypal", "operator or stripe"),
    ] {
        let error = refusal_of_flag(setting, value);
        assert!(error.starts_with(&format!("--set sets {setting} to '{value}'; it takes ")), "{error}");
        assert!(error.contains(reported), "{error}");
    }
    let error = refusal_of_file("[server]\nhead_seconds = 5\nlisten = 8480\n");
    assert!(error.contains("hornbook.toml:3 sets server.listen to '8480'"), "{error}");
    assert!(error.contains("write \"127.0.0.1:8480\""), "{error}");
    assert!(refusal_of_file("[server.listen]\nport = 1\n").contains("sets server.listen to 'a table'"));
    assert!(refusal_of_file("[server]\nlisten = 127.0.0.1:80\n").contains("line 2 is not valid TOML"));
}

#[test]
fn tls_takes_certificate_and_key() {
    let load = |pairs: &[(&str, &str)]| Config::load(None, [], flags(pairs));
    for (given, missing) in [("tls.certificate", "tls.private_key"), ("tls.private_key", "tls.certificate")] {
        let error = load(&[(given, "a.pem")]).unwrap_err().to_string();
        assert_eq!(error, format!("{given} is set but {missing} is not; set both, or neither"));
    }
    let config = load(&[("tls.certificate", "a"), ("tls.private_key", "b")]).unwrap();
    assert_eq!(config.tls.certificate.as_deref(), Some(Path::new("a")));
    assert_eq!(config.server.base_url.unwrap().0, "https://127.0.0.1:8080");
}

#[test]
fn lists_are_arrays_or_text_with_commas() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hornbook.toml");
    for value in ["[\"10.0.0.0/8\", \"::1\"]", "\"10.0.0.0/8, ::1\"", "\"10.0.0.0/8,::1\""] {
        std::fs::write(&file, format!("[server]\nproxies = {value}\nproxy_protocol = true\n")).unwrap();
        let config = Config::load(Some(&file), [], []).unwrap();
        assert_eq!(config.server.proxies, ["10.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()], "{value}");
        assert_eq!(config.server.proxy_protocol, OnOff::On);
    }
}

#[test]
fn every_value_in_force_has_its_origin() {
    let config =
        Config::load(None, environment(&[("HORNBOOK_FREE_PER_DAY", "7")]), flags(&[("free.profile", "grant")]));
    let config = config.unwrap();
    let row = |name: &str| {
        let row = config.effective().find(|row| row.setting.name == name).unwrap();
        (row.value, row.origin.to_string())
    };
    let pair = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(row("free.profile"), pair("grant", "--set"));
    assert_eq!(row("free.per_minute"), pair("10", "default (profile grant)"));
    assert_eq!(row("free.per_day"), pair("7", "$HORNBOOK_FREE_PER_DAY"));
    assert_eq!(row("pack_bulk.price_cents"), pair("5000", "default"));
    assert_eq!(row("server.base_url"), pair("http://127.0.0.1:8080", "default (from server.listen)"));
    assert_eq!(row("metrics.listen"), pair("", "default"));
    assert_eq!(row("server.permits").1, "default (one per core)");
    // All other settings have a value.
    let none: Vec<&str> = config.effective().filter(|row| row.value.is_empty()).map(|row| row.setting.name).collect();
    let expected = [
        "state.ca",
        "snapshots.origin",
        "snapshots.trusted_keys",
        "snapshots.share",
        "server.cross_origins",
        "server.proxies",
        "search.synonyms",
        "mcp.hosts",
        "mcp.origins",
        "people.terms",
        "people.privacy",
        "tls.certificate",
        "tls.private_key",
        "metrics.listen",
        "ledger.rollup_after_days",
        "formation.how_to_pay",
        "payments.stripe_secret_key",
        "payments.stripe_secret_key_file",
        "payments.stripe_webhook_secret",
        "payments.stripe_webhook_secret_file",
        "billing.usage_webhook",
        "billing.usage_webhook_secret",
        "billing.usage_webhook_secret_file",
        "operator.webhook",
        "operator.webhook_secret",
        "operator.webhook_secret_file",
    ];
    assert_eq!(none, expected);
}

#[test]
fn every_setting_is_there_once_and_no_two_share_a_variable() {
    let mut names: Vec<String> = SETTINGS.iter().map(Setting::environment_name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SETTINGS.len());
}

#[test]
fn secrets_are_never_shown_and_never_taken_from_a_flag() {
    let (key, secret) = ("sk_test_0123456789abcdef", "whsec_0123456789abcdef");
    let pairs = [
        ("HORNBOOK_PAYMENTS_PROVIDER", "stripe"),
        ("HORNBOOK_PAYMENTS_STRIPE_SECRET_KEY", key),
        ("HORNBOOK_PAYMENTS_STRIPE_WEBHOOK_SECRET", secret),
    ];
    let config = Config::load(None, environment(&pairs), []).unwrap();
    assert_eq!(config.payments.stripe_secret_key.as_ref().unwrap().reveal(), key);
    let shown: Vec<String> = config.effective().map(|setting| setting.value).collect();
    assert_eq!(shown.iter().filter(|value| *value == "(hidden)").count(), 2);
    let printed = format!("{config:?}{shown:?}");
    assert!(!printed.contains(key) && !printed.contains(secret), "{printed}");

    let wrong = "pk_test_0123456789abcdef";
    for error in [
        refusal_of_flag("payments.stripe_secret_key", key),
        refusal_of_file(&format!("[payments]\nstripe_secret_key = \"{wrong}\"\n")),
        refusal_of_file("[payments]\nstripe_webhook_secret = \"too short\"\n"),
    ] {
        assert!(!error.contains(key) && !error.contains(wrong) && !error.contains("too short"), "{error}");
        assert!(error.contains("payments.stripe_"), "{error}");
    }
}

#[test]
fn a_secret_is_given_once_and_stripe_needs_both() {
    let of = |lines: &str| refusal_of_file(&format!("[payments]\n{lines}\n"));
    let key = "stripe_secret_key = \"sk_test_0123456789abcdef\"";
    let both = of(&format!("{key}\nstripe_secret_key_file = \"key\""));
    assert!(both.contains("are both set"), "{both}");
    let neither = of(&format!("provider = \"stripe\"\n{key}"));
    assert!(neither.contains("payments.stripe_webhook_secret or payments.stripe_webhook_secret_file"), "{neither}");
    let unsigned = refusal_of_flag("operator.webhook", "https://ops.example/hook");
    assert!(unsigned.contains("operator.webhook_secret or operator.webhook_secret_file"), "{unsigned}");
    let unsigned = refusal_of_flag("billing.usage_webhook", "https://biller.example/usage");
    assert!(unsigned.contains("billing.usage_webhook_secret or billing.usage_webhook_secret_file"), "{unsigned}");
}

#[test]
fn the_default_of_a_secret_setting_may_be_a_flag_and_is_shown() {
    let load = |value: &str| Config::load(None, environment(&[]), flags(&[("state.backend", value)]));
    let config = load("embedded").unwrap();
    assert_eq!(config.effective().find(|row| row.setting.name == "state.backend").unwrap().value, "embedded");
    let refused = load("postgres://ada:secret@db.example/law").unwrap_err().to_string();
    assert!(refused.contains("HORNBOOK_STATE_BACKEND") && !refused.contains("ada"), "{refused}");
}
