/// The databases that an engine has opened: those with connections, and the last few without; pure.
///
/// A database without connections is kept for the next one, because opening it reads and writes the store. More than
/// ``DatabaseServiceTuning/idleDatabases`` of them are not kept: an engine that sees a new name with each connection
/// would never stop growing.
struct RoomTable {
  private struct Entry {
    let room: Room
    var connections = 0
  }

  private let idleLimit: Int
  private var entries: [String: Entry] = [:]
  /// The names without connections, the one that has been so for longest first.
  private var idle: [String] = []
  private var retiring: [Room] = []
  private var retirements = 0

  /// No databases.
  ///
  /// - Parameter idleLimit: How many databases without connections are kept.
  init(idleLimit: Int) { self.idleLimit = idleLimit }

  /// All databases, including the ones being closed.
  var all: [Room] { entries.values.map(\.room) + retiring }

  /// The database of a name, if it is open.
  func room(_ namespace: String) -> Room? { entries[namespace]?.room }

  /// Counts a connection in.
  ///
  /// - Parameter make: Makes a database that is not open. Its argument is zero, or a number that no other database of
  ///   the name has had: a database that is being closed releases the resources of its number.
  mutating func enter(_ namespace: String, make: (Int) -> Room) -> Room {
    var entry = entries[namespace] ?? Entry(room: make(retirements))
    entry.connections += 1
    entries[namespace] = entry
    idle.removeAll { $0 == namespace }
    return entry.room
  }

  /// Counts a connection out.
  mutating func leave(_ namespace: String) {
    guard let connections = entries[namespace]?.connections else { return }
    entries[namespace]?.connections = connections - 1
    if connections == 1 { idle.append(namespace) }
  }

  /// Takes out a database to close, if there are too many without connections; call ``retired(_:)`` afterwards.
  ///
  /// One that could not carry out yet what a session has asked for its end is passed over, and looked at again the next
  /// time.
  mutating func takeSurplus() -> Room? {
    guard idle.count > idleLimit,
      let index = idle.firstIndex(where: { entries[$0]?.room.isDone == true }),
      let room = entries.removeValue(forKey: idle.remove(at: index))?.room
    else { return nil }
    retirements += 1
    retiring.append(room)
    return room
  }

  /// Forgets a database that has been closed.
  mutating func retired(_ room: Room) { retiring.removeAll { $0 === room } }
}
