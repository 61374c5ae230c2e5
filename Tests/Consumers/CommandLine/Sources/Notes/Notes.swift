import Foundation
import VestaAuth
import VestaAuthRemote
import VestaAuthService
import VestaCore
import VestaCrypto
import VestaFirestore
import VestaFirestoreRemote
import VestaFirestoreService
import VestaSQLite
import VestaStorage
import VestaStorageRemote
import VestaStorageService
import VestaTransport

/// The notes of a user: an account, a query that is followed, and files.
///
/// Everything below is the API of the Firebase SDK, and says nothing about where the data is: the backend of the
/// options chooses between the engines and the remote backends, which are both in the list.
struct Notes: Sendable {
  private let app: VestaApp
  private let auth: Auth
  private let notes: CollectionReference
  private let files: StorageReference

  /// The notes of a backend.
  ///
  /// - Parameter name: The name of the app, which keeps its own session.
  init(_ options: VestaOptions, name: String) throws {
    app = try VestaApp.configure(
      name: name, options: options,
      libraries: [
        AuthLibrary.self, AuthServiceLibrary.self, AuthRemoteLibrary.self,
        FirestoreLibrary.self, FirestoreServiceLibrary.self, FirestoreRemoteLibrary.self,
        StorageLibrary.self, StorageServiceLibrary.self, StorageRemoteLibrary.self,
        SQLiteLibrary.self, CryptoLibrary.self, TransportLibrary.self,
      ])
    auth = try Auth.instance(for: app)
    notes = try Firestore.instance(for: app).collection("notes")
    files = try Storage.instance(for: app).reference().child("notes")
  }

  /// Signs in, and makes the account if there is none.
  ///
  /// - Returns: The id of the user.
  @discardableResult
  func signIn(_ email: String, _ password: String) async throws -> String {
    do {
      return try await auth.createUser(withEmail: email, password: password).user.uid
    } catch AuthErrorCode.emailAlreadyInUse {
      return try await auth.signIn(withEmail: email, password: password).user.uid
    }
  }

  /// Signs out.
  func signOut() throws { try auth.signOut() }

  /// The e-mail address of the user that an earlier run has signed in; `nil` when there is none.
  var user: String? { auth.currentUser?.email }

  /// Adds a note, and waits until the backend has it.
  func add(_ text: String) async throws {
    try await notes.addDocument(data: ["owner": uid(), "text": text, "time": FieldValue.serverTimestamp()])
  }

  /// Follows the notes of the user, until the task is cancelled or the limit is reached.
  ///
  /// - Parameters:
  ///   - limit: The number of notes; `nil` for no end.
  ///   - show: Called with each note that the backend has, once.
  func follow(limit: Int? = nil, _ show: (String) -> Void) async throws {
    var count = 0
    for try await snapshot in notes.whereField("owner", isEqualTo: try uid()).snapshots {
      for change in snapshot.documentChanges where change.type == .added {
        show(change.document.get("text") as? String ?? "")
        count += 1
        if count == limit { return }
      }
    }
  }

  /// Uploads a file, and shows its progress.
  ///
  /// - Returns: The path of the object.
  func upload(_ file: URL, _ progress: (Int64, Int64) -> Void = { _, _ in }) async throws -> String {
    let object = files.child(try uid()).child(file.lastPathComponent)
    for try await snapshot in object.putFile(from: file).progressUpdates {
      guard let done = snapshot.progress else { continue }
      progress(done.completedUnitCount, done.totalUnitCount)
    }
    return object.fullPath
  }

  /// Downloads a file that was uploaded under a name.
  func download(_ name: String, to file: URL) async throws {
    _ = try await files.child(try uid()).child(name).writeAsync(toFile: file)
  }

  /// Ends the app: what is under way is ended, what is kept stays.
  func close() async { await app.delete() }

  private func uid() throws -> String {
    guard let user = auth.currentUser else { throw Complaint("Nobody is signed in: notes sign-in EMAIL") }
    return user.uid
  }
}

/// A sentence for the person at the terminal.
struct Complaint: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
