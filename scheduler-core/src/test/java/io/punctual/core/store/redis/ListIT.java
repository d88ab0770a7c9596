package io.punctual.core.store.redis;

class ListIT extends ListContract {}
