package io.punctual;

import java.util.List;

/** A job with this id is there already, and it is not the same one. Nothing was changed. */
public class JobConflictException extends PunctualException {

  private static final long serialVersionUID = 1L;

  private final List<String> fields;

  /**
   * @param fields the names of the fields that differ
   */
  public JobConflictException(String message, List<String> fields) {
    super(ErrorCode.CONFLICT, message);
    this.fields = List.copyOf(fields);
  }

  /** The names of the fields in which the stored job differs. */
  public List<String> fields() {
    return fields;
  }
}
