-- Integer keys for questions and chunks. Uniqueness is kept by the one writer: DuckDB's indexes
-- would cost more than they give.
create table questions (
    question_ref integer not null,
    collection varchar not null,
    question varchar not null
);
create table chunks (
    chunk_ref integer not null,
    collection varchar not null,
    document varchar not null,
    version varchar not null,
    chunk varchar not null
);
-- Each text once, by its hash. A collection with retain_text = false leaves them out.
create table texts (
    text_hash varchar not null,
    text varchar not null
);
create table corpora (
    corpus_ref integer not null,
    collection varchar not null,
    revision varchar not null,
    points integer not null,
    eligible integer not null
);
-- The eligible chunks of a corpus revision: the denominator of everything scored against it.
create table corpus_chunks (
    corpus_ref integer not null,
    chunk_ref integer not null,
    text_hash varchar not null,
    title varchar not null,
    section varchar not null
);
create table executions (
    execution_ref integer not null,
    execution varchar not null,
    collection varchar not null,
    configuration varchar not null,
    fingerprint varchar not null,
    status varchar not null,
    corpus_ref integer not null,
    started varchar not null,
    finished varchar not null,
    provenance json not null
);
create table execution_questions (
    execution_ref integer not null,
    question_ref integer not null,
    text varchar not null,
    failure varchar,
    embed_ms double not null,
    search_ms double not null
);
-- Uncut rankings in stored order; a score threshold is applied when they are read.
create table hits (
    execution_ref integer not null,
    question_ref integer not null,
    rank integer not null,
    chunk_ref integer not null,
    score double not null
);
create table label_sets (
    label_ref integer not null,
    collection varchar not null,
    revision varchar not null,
    corpus_ref integer not null,
    judgments integer not null,
    stored varchar not null
);
create table label_questions (
    label_ref integer not null,
    question_ref integer not null,
    category varchar not null,
    split varchar not null,
    tags varchar[] not null,
    text varchar not null,
    kind varchar not null
);
create table label_pairs (
    label_ref integer not null,
    question_ref integer not null,
    chunk_ref integer not null,
    state varchar not null,
    grade tinyint,
    low tinyint not null,
    high tinyint not null,
    departed boolean not null
);
create table scorings (
    scoring_ref integer not null,
    hash varchar not null,
    settings json not null
);
-- Every scoring in the order it was done, also of scores that were there before.
create table scorings_done (
    number integer not null,
    execution_ref integer not null,
    label_ref integer not null,
    scoring_ref integer not null
);
create table scores (
    execution_ref integer not null,
    label_ref integer not null,
    scoring_ref integer not null,
    question_ref integer not null,
    k integer not null,
    outcome varchar not null,
    reason varchar,
    relevant integer,
    provisional boolean not null,
    precision double,
    recall double,
    rr double,
    ndcg double,
    hit double,
    judged double,
    bounds json
);
