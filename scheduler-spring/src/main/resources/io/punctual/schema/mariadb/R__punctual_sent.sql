-- What was sent to the scheduler, by job, as it was wanted last: punctual.outbox.keep-sent.
-- due_at is by the scheduler's clock; other times by the database's; milliseconds since 1970.
create table if not exists punctual_sent (
  application varchar(128) character set ascii collate ascii_bin not null,
  lane varchar(257) character set ascii collate ascii_bin not null,
  task_type varchar(128) character set ascii collate ascii_bin not null,
  kind varchar(16) character set ascii collate ascii_bin not null,
  content mediumtext character set utf8mb4 not null,
  due_at bigint not null,
  moved smallint not null,
  created_at bigint not null,
  sent_at bigint not null,
  keep_until bigint not null,
  primary key (application, lane),
  key punctual_sent_order (application, sent_at, lane),
  key punctual_sent_expiry (application, keep_until)
) engine = InnoDB;

-- One row for each application: which losses of the store it has made up for, and the last time that it sent again.
create table if not exists punctual_resend (
  application varchar(128) character set ascii collate ascii_bin not null primary key,
  store varchar(64) character set ascii collate ascii_bin,
  loss bigint not null,
  seen_at bigint not null,
  look_at bigint not null,
  since bigint not null,
  begun_at bigint not null,
  ended_at bigint not null,
  feed_at bigint not null,
  last_sent_at bigint not null,
  last_lane varchar(257) character set ascii collate ascii_bin not null,
  fed bigint not null,
  missing bigint not null,
  present bigint not null,
  refused bigint not null
) engine = InnoDB;
