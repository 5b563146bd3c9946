"""The three settings of the sidecar that the suites are run through."""

# What the tests of each suite use most.
USED_HEAVILY = {
    "core": [
        "tenk1", "tenk2", "onek", "onek2", "int4_tbl", "int8_tbl", "int2_tbl", "float8_tbl", "text_tbl",
        "char_tbl", "varchar_tbl", "date_tbl", "timestamp_tbl", "timestamptz_tbl", "point_tbl", "box_tbl",
        "circle_tbl", "inet_tbl", "person", "emp", "student", "road", "bprime", "aggtest", "hash_i4_heap", "t",
        "t1", "t2", "t3", "x", "y", "foo", "bar", "test1", "base_tbl", "rw_view1", "rw_view2", "pktable",
        "fktable", "mcv_lists", "functional_dependencies", "ndistinct", "testjsonb", "target", "atacc1",
        "test_jsonb_subscript", "empsalary", "plt1_adv", "plt2_adv", "prt1", "prt2", "simple",
        "insertconflicttest", "document", "unique_tbl", "uctest", "atest1", "atest2", "atest5", "parent", "child",
        "vactst", "pk", "a", "b", "c", "j1_tbl", "j2_tbl", "dcomptable", "rls_view", "trigtest", "main_table",
        "itest1", "gtest1", "part", "mytable", "num_data", "num_result", "collate_test1", "radix_text_tbl",
        "test_tsvector", "pslot", "wslot", "department", "list_parted", "range_parted", "mlparted", "parted",
        "cachedescr",
    ],
    "isolation": [
        "foo", "accounts", "target", "bank_account", "a", "b", "test", "test1", "upsert", "target_tg", "queue", "a1", "a2",
        "trigtest", "tlu_job", "parent", "child", "p", "table_a", "pa_target", "hash_tbl", "parttbl", "footrg", "one",
        "smalltbl", "multixact_conflict", "gin_tbl", "inh_parent", "ints", "another", "d_listp",
    ],
    "pipeline": ["pq_pipeline_demo", "ppln_uniqviol"],
}
NAMES = ("relaying", "gated", "heavily_gated")


def changes(setting, suite, server):
    """What `setting` changes in the configuration of the tests' sidecar."""
    gate = {"mode": "off"} if setting == "relaying" else {
        "mode": "enforce",
        "pin_before_locks": None,
        "functions": [],
        "tables": [{"name": name} for name in _tables(setting, suite)],
    }
    return {
        "control": {"dsn": server.dsn()},
        "gate": gate,
        "control_row": {"table": "ledgergate_suites.control", "changed_at_column": None},
        "transitions": {"deadline": "2s", "guards": None, "steps": None, "notify": None},
        "log": {"level": "info"},
    }


def _tables(setting, suite):
    return USED_HEAVILY[suite] if setting == "heavily_gated" else ["a_table_that_no_suite_has"]
