-- Run at each start, and may be: what is there stays. For H2 and for PostgreSQL.

create table if not exists items (
  name varchar(40) primary key,
  cents integer not null,
  available integer not null check (available >= 0)
);

insert into items select 'tea', 490, 1000 where not exists (select 1 from items where name = 'tea');
insert into items select 'cake', 350, 200 where not exists (select 1 from items where name = 'cake');
insert into items select 'teapot', 3900, 3 where not exists (select 1 from items where name = 'teapot');

create table if not exists orders (
  id varchar(20) primary key,
  item varchar(40) not null references items,
  note varchar(100),
  cents integer not null,
  status varchar(10) not null,
  placed_at timestamp(3) with time zone not null,
  remind_at timestamp(3) with time zone not null,
  pay_until timestamp(3) with time zone not null,
  reminded_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  notify_attempts integer default 0 not null,
  notified_at timestamp(3) with time zone
);

create index if not exists orders_placed on orders (placed_at);

-- The partner is another company in real life. It is here so that the demo has one.

create table if not exists partner_settings (
  id integer primary key check (id = 1),
  mode varchar(10) not null
);

insert into partner_settings select 1, 'FLAKY' where not exists (select 1 from partner_settings);

create table if not exists partner_payments (
  idempotency_key varchar(128) primary key,
  order_id varchar(20) not null,
  cents integer not null
);
