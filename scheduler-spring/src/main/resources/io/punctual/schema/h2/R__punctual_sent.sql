-- What was sent to the scheduler, by job, as it was wanted last: punctual.outbox.keep-sent.
-- due_at is by the scheduler's clock; other times by the database's; milliseconds since 1970.
create table if not exists punctual_sent (
  application varchar(128) not null,
  lane varchar(257) not null,
  task_type varchar(128) not null,
  kind varchar(16) not null,
  content character large object not null,
  due_at bigint not null,
  moved smallint not null,
  created_at bigint not null,
  sent_at bigint not null,
  keep_until bigint not null,
  primary key (application, lane)
);
create index if not exists punctual_sent_order on punctual_sent (application, sent_at, lane);
create index if not exists punctual_sent_expiry on punctual_sent (application, keep_until);

-- One row for each application: which losses of the store it has made up for, and the last time that it sent again.
create table if not exists punctual_resend (
  application varchar(128) not null primary key,
  store varchar(64),
  loss bigint not null,
  seen_at bigint not null,
  look_at bigint not null,
  since bigint not null,
  begun_at bigint not null,
  ended_at bigint not null,
  feed_at bigint not null,
  last_sent_at bigint not null,
  last_lane varchar(257) not null,
  fed bigint not null,
  missing bigint not null,
  present bigint not null,
  refused bigint not null
);
