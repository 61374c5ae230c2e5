import Dispatch
import Foundation
import VestaAuth
import VestaAuthService
import VestaCore
import VestaCrypto
import VestaFirestore
import VestaFirestoreService
import VestaFunctions
import VestaFunctionsService
import VestaMessaging
import VestaMessagingService
import VestaRulesGuards
import VestaSQLite

/// The rules of the chat: members read and write, each under their own id, and only the bot admits members.
enum ChatRules: Library {
  static let name = "chat-rules"

  static let source = """
    rules_version = '2';
    service cloud.firestore { match /databases/{database}/documents {
      function isBot() { return request.auth.token.bot == true; }
      function isMember(room) {
        return request.auth.uid in get(/databases/$(database)/documents/rooms/$(room)).data.members;
      }
      match /rooms/{room} {
        allow get: if isBot() || request.auth.uid in resource.data.members;
        allow write: if isBot();
        match /messages/{message} {
          allow read: if isBot() || isMember(room);
          allow create: if (isBot() || isMember(room)) && request.resource.data.author == request.auth.uid
            && request.resource.data.text.size() <= 500;
          allow update: if isBot();
        }
      }
    } }
    """

  static func components() -> [Component] {
    [Component(RulesSources.self, caching: .shared) { _ in RulesSources(firestore: .text(source)) }]
  }
}

/// A message of a room.
struct ChatMessage: Codable, Sendable {
  @DocumentID var id: String?
  var author: String
  var text: String
  @ServerTimestamp var sent: Timestamp?
}

/// A connection to the chat: an app with its own session.
///
/// All of a process share the engines.
struct ChatApp: Sendable {
  let app: VestaApp
  var auth: Auth { Auth.auth(app: app) }
  var db: Firestore { Firestore.firestore(app: app) }
  var functions: Functions { Functions.functions(app: app) }
  var messaging: Messaging { get throws { try Messaging.instance(for: app) } }

  init(_ name: String, directory: URL) throws {
    let options = VestaOptions(projectID: "demo-chat", backend: .embedded(directory: directory))
    options.callbackQueue = DispatchQueue(label: "chat.\(name)")
    app = try VestaApp.configure(
      name: name, options: options,
      libraries: [
        AuthLibrary.self, AuthServiceLibrary.self, FirestoreLibrary.self, FirestoreServiceLibrary.self,
        FunctionsLibrary.self, FunctionsServiceLibrary.self, MessagingLibrary.self, MessagingServiceLibrary.self,
        RulesLibrary.self, ChatRules.self, SQLiteLibrary.self, CryptoLibrary.self,
      ])
  }

  func messages(of room: String) -> CollectionReference { db.collection("rooms/\(room)/messages") }

  /// Enters a room: the bot adds this user to its members.
  func join(_ room: String) async throws {
    let join: Callable<String, String> = functions.httpsCallable("join")
    print("bot: \(try await join(room))")
  }

  func say(_ text: String, in room: String, as author: String? = nil) async throws {
    let author = author ?? auth.currentUser?.uid ?? "nobody"
    try await messages(of: room).addDocument(
      data: ["author": author, "text": text, "sent": FieldValue.serverTimestamp()])
  }

  /// The texts of a room in the order in which they were sent, now and after each change.
  func texts(of room: String) -> some AsyncSequence<[String], any Error> {
    messages(of: room).order(by: "sent").snapshots.map { snapshot in
      try snapshot.documents.map { try $0.data(as: ChatMessage.self).text }
    }
  }
}
