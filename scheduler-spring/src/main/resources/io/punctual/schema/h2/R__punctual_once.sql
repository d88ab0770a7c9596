-- Which jobs are done: punctual.once.
-- Times are milliseconds since 1970, by the database's clock.
create table if not exists punctual_once (
  application varchar(128) not null,
  task_type varchar(128) not null,
  task_id varchar(128) not null,
  incarnation varchar(64) not null,
  done_at bigint not null,
  primary key (application, task_type, task_id, incarnation)
);
create index if not exists punctual_once_done on punctual_once (application, done_at);
