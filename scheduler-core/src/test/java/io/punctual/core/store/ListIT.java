package io.punctual.core.store;

class ListIT extends ListContract {}
