package io.punctual.client.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The members of a JSON object, by name. A member that is null counts as absent. */
public final class JsonObject {

  private final Map<?, ?> members;

  private JsonObject(Map<?, ?> members) {
    this.members = members;
  }

  /** Returns the object that was read; one without members for anything else. */
  public static JsonObject of(@Nullable Object value) {
    return new JsonObject(value instanceof Map<?, ?> map ? map : Map.of());
  }

  private <T> T member(String name, Class<T> type) {
    Object value = members.get(name);
    if (!type.isInstance(value)) {
      throw new JsonException("the member " + name + " is missing, or no " + type.getSimpleName());
    }
    return type.cast(value);
  }

  private <T> @Nullable T find(String name, Class<T> type) {
    Object value = members.get(name);
    return type.isInstance(value) ? type.cast(value) : null;
  }

  /** Returns whether there is such a member. */
  public boolean has(String name) {
    return members.get(name) != null;
  }

  /**
   * Returns a text.
   *
   * @throws JsonException if there is none of that name
   */
  public String text(String name) {
    return member(name, String.class);
  }

  /** Returns a text, or the other one if there is none of that name. */
  public String text(String name, String otherwise) {
    String text = find(name, String.class);
    return text == null ? otherwise : text;
  }

  /**
   * Returns a whole number.
   *
   * @throws JsonException if there is none of that name
   */
  public long number(String name) {
    return member(name, Number.class).longValue();
  }

  /** Returns a whole number, or the other one if there is none of that name. */
  public long number(String name, long otherwise) {
    Number number = find(name, Number.class);
    return number == null ? otherwise : number.longValue();
  }

  /** Returns whether there is a member of that name that is true. */
  public boolean is(String name) {
    return Boolean.TRUE.equals(find(name, Boolean.class));
  }

  /** Returns an object; null if there is none of that name. */
  public @Nullable JsonObject object(String name) {
    Map<?, ?> object = find(name, Map.class);
    return object == null ? null : new JsonObject(object);
  }

  /** Returns the objects of a list; null if there is no list of that name. */
  public @Nullable List<JsonObject> objects(String name) {
    List<?> list = find(name, List.class);
    return list == null ? null : list.stream().map(JsonObject::of).toList();
  }

  /** Returns the texts of a list; none if there is no list of that name. */
  public List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    List<?> list = find(name, List.class);
    if (list != null) {
      list.forEach(text -> texts.add(String.valueOf(text)));
    }
    return texts;
  }

  /** Returns the members of an object of texts; none if there is no object of that name. */
  public Map<String, String> textsByName(String name) {
    Map<String, String> texts = new LinkedHashMap<>();
    JsonObject object = object(name);
    if (object != null) {
      object.members.forEach((key, text) -> texts.put((String) key, String.valueOf(text)));
    }
    return texts;
  }
}
