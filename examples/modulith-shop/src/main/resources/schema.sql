create table if not exists orders (
  id varchar(64) primary key,
  amount bigint not null,
  state varchar(16) not null
);
