/// A job in the background that one engine at a time does for a database, however many have its store open.
enum LeasedJob: Sendable, Hashable {
  /// Making the index with this number.
  case building(Int64)
  /// Deleting the entries of dropped indexes.
  case sweeping
  /// Dropping unused indexes.
  case aging
  /// Deleting the log that is older than the retention.
  case pruning
}
