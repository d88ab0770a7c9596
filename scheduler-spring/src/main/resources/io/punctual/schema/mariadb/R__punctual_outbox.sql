-- What waits to be sent to the scheduler: punctual.outbox.
-- Rows of one lane, which is a job, go in the order of their ids; lane and task type of what concerns all jobs are *.
-- Times are milliseconds since 1970, by the database's clock.
create table if not exists punctual_outbox (
  id bigint not null auto_increment primary key,
  application varchar(128) character set ascii collate ascii_bin not null,
  task_type varchar(128) character set ascii collate ascii_bin not null,
  lane varchar(257) character set ascii collate ascii_bin not null,
  kind varchar(16) character set ascii collate ascii_bin not null,
  content mediumtext character set utf8mb4 not null,
  created_at bigint not null,
  available_at bigint not null,
  attempts int not null,
  refused smallint not null,
  claim varchar(36) character set ascii collate ascii_bin,
  error varchar(1000) character set utf8mb4,
  key punctual_outbox_waiting (application, refused, id),
  key punctual_outbox_types (application, refused, task_type, id)
) engine = InnoDB;
