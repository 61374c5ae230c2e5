/// How a snapshot shows a server timestamp that the backend has not set yet.
public enum ServerTimestampBehavior: Int, Sendable {
  /// As null, until the backend has set it.
  case none = 0
  /// As the local time of the write.
  case estimate = 1
  /// As the value that the field had before, null if it had none.
  case previous = 2
}
