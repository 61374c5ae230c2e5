import Dispatch
import Foundation
import VestaCore
import VestaDatabase
import VestaDatabaseService
import VestaFirestore
import VestaFirestoreService
import VestaPostgres
import VestaSQLite

/// An entry of the list.
struct Item: Codable, Sendable {
  @DocumentID var id: String?
  var title: String
  var author: String
  var done = false
}

/// The list as one person sees it at one time.
struct ListState: Sendable {
  var items: [Item]
  /// The entries whose last change has not reached the others yet.
  var pending: Set<String>

  /// The titles; parentheses mark the entries that are done.
  var summary: String { items.map { $0.done ? "(\($0.title))" : $0.title }.joined(separator: ", ") }
}

/// One person at the list: an app with its own connection, cache and presence.
final class Person: Sendable {
  let name: String
  private let app: VestaApp
  private let presence: Task<Void, any Error>

  private var items: CollectionReference { Firestore.firestore(app: app).collection("items") }
  private var people: DatabaseReference { Database.database(app: app).reference(withPath: "people") }

  /// A person who is there from now on, online.
  ///
  /// - Parameters:
  ///   - name: The name that the others see.
  ///   - directory: Where the list is kept, and what this person has not sent yet.
  init(_ name: String, directory: URL) throws {
    self.name = name
    let options = VestaOptions(projectID: "demo-todo", backend: .embedded(directory: directory))
    // The program serves no main queue: it waits for lines, or for its streams.
    options.callbackQueue = DispatchQueue(label: "todo.\(name)")
    // With a PostgreSQL, programs in other terminals and on other machines share the list.
    let isShared = ProcessInfo.processInfo.environment["VESTA_POSTGRES_URL"] != nil
    let store: any Library.Type = isShared ? PostgresLibrary.self : SQLiteLibrary.self
    app = try VestaApp.configure(
      name: name, options: options,
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, DatabaseLibrary.self, DatabaseServiceLibrary.self, store,
      ])
    presence = Task { [app] in try await Self.stayPresent(as: name, in: app) }
  }

  /// Enters a person at each connection; the service removes the entry when the connection ends, however it ends.
  private static func stayPresent(as name: String, in app: VestaApp) async throws {
    let database = Database.database(app: app)
    let entry = database.reference(withPath: "people").child(name)
    for try await connected in database.reference(withPath: ".info/connected").value
    where connected.value as? Bool == true {
      try await entry.onDisconnectRemoveValue()
      try await entry.setValue(true)
    }
  }

  // MARK: The list

  /// The list, now and after each change.
  var states: some AsyncSequence<ListState, any Error> & Sendable {
    items.order(by: "title").snapshots.map { snapshot in
      ListState(
        items: try snapshot.documents.map { try $0.data(as: Item.self) },
        pending: Set(snapshot.documents.filter(\.metadata.hasPendingWrites).map(\.documentID)))
    }
  }

  /// The list as it is now, also without a connection.
  func state() async throws -> ListState {
    for try await state in states { return state }
    return ListState(items: [], pending: [])
  }

  /// Adds an entry.
  ///
  /// It survives a crash when this returns, and is sent when there is a connection.
  func add(_ title: String) async throws {
    try await items.document().startSetData(["title": title, "author": name, "done": false]).localCommit()
  }

  /// Marks the entry with a title as done, or open again.
  ///
  /// - Returns: Whether there is such an entry.
  func toggle(_ title: String) async throws -> Bool {
    guard let item = try await state().items.first(where: { $0.title == title }), let id = item.id else { return false }
    try await items.document(id).startUpdateData(["done": !item.done]).localCommit()
    return true
  }

  // MARK: Presence

  /// Who is there, now and after each change.
  var present: some AsyncSequence<[String], any Error> & Sendable {
    people.value.map { snapshot in snapshot.children.compactMap { ($0 as? DataSnapshot)?.key }.sorted() }
  }

  /// Leaves without leaving the program: what is written from now on waits.
  func goOffline() async throws {
    Database.database(app: app).goOffline()
    try await Firestore.firestore(app: app).disableNetwork()
  }

  /// Returns, and sends what waits.
  func goOnline() async throws {
    try await Firestore.firestore(app: app).enableNetwork()
    Database.database(app: app).goOnline()
  }

  /// Ends the connection and closes the stores.
  func leave() async {
    presence.cancel()
    await app.delete()
  }
}
