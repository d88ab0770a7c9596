-- What waits to be sent to the scheduler: punctual.outbox.
-- Rows of one lane, which is a job, go in the order of their ids; lane and task type of what concerns all jobs are *.
-- Times are milliseconds since 1970, by the database's clock.
create table if not exists punctual_outbox (
  id bigint generated always as identity primary key,
  application varchar(128) not null,
  task_type varchar(128) not null,
  lane varchar(257) not null,
  kind varchar(16) not null,
  content text not null,
  created_at bigint not null,
  available_at bigint not null,
  attempts int not null,
  refused smallint not null,
  claim varchar(36),
  error varchar(1000)
);
create index if not exists punctual_outbox_waiting on punctual_outbox (application, refused, id);
create index if not exists punctual_outbox_types
  on punctual_outbox (application, refused, task_type, id);
