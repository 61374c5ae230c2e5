import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaAuthService

/// How codes reach users.
@Suite struct CodeSenderTests {
  @Test func `the recording sender keeps every promise of a sender`() async {
    let outcomes = await CodeSenderContracts.all.run {
      let sender = RecordingCodeSender()
      return CodeSenderSubject(
        sender, arrivedEmails: { sender.recordedEmails.map { ($0.recipient, $0.link) } },
        arrivedTexts: { sender.recordedTexts.map { ($0.phoneNumber, $0.code) } })
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
  }

  /// A sender whose mailboxes a test can look into, right or wrong in one way.
  private final class Post: CodeSender {
    enum Flaw: String, CaseIterable {
      case none, escapesLinks = "an e-mail has arrived", dropsZeros = "a text message has arrived"
      case sendsTwice = "messages that are sent at once", hidesFailures = "a message that cannot be delivered"
      case showsCodes = "a real sender"
    }
    struct Lost: Error {}

    let flaw: Flaw
    let emails = Locked<[EmailMessage]>([])
    let texts = Locked<[TextMessage]>([])
    let fails = Locked(false)

    init(_ flaw: Flaw) { self.flaw = flaw }

    func send(_ message: EmailMessage) async throws {
      if fails.withLock({ $0 }) {
        if flaw == .hidesFailures { return }
        throw Lost()
      }
      var message = message
      if flaw == .escapesLinks { message.link = message.link.replacing("&", with: "&amp;") }
      let sent = message
      emails.withLock { $0 += flaw == .sendsTwice ? [sent, sent] : [sent] }
    }

    func send(_ message: TextMessage) async throws {
      var message = message
      if flaw == .dropsZeros { message.code = String(Int(message.code) ?? 0) }
      let sent = message
      texts.withLock { $0.append(sent) }
    }

    var recordedEmails: [EmailMessage] { flaw == .showsCodes ? emails.withLock { $0 } : [] }

    var subject: CodeSenderSubject {
      CodeSenderSubject(
        self, arrivedEmails: { self.emails.withLock { $0 }.map { ($0.recipient, $0.link) } },
        arrivedTexts: { self.texts.withLock { $0 }.map { ($0.phoneNumber, $0.code) } },
        setFails: { fails in self.fails.withLock { $0 = fails } })
    }
  }

  @Test(arguments: Post.Flaw.allCases.map(\.rawValue))
  func `a wrong sender breaks exactly its promise`(flaw: String) async throws {
    let flaw = try #require(Post.Flaw(rawValue: flaw))
    let outcomes = await CodeSenderContracts.all.run { Post(flaw).subject }
    let broken = outcomes.filter { !$0.isKept }.map(\.name)
    #expect(broken.count == (flaw == .none ? 0 : 1))
    #expect(broken.allSatisfy { $0.hasPrefix(flaw.rawValue) }, "\(broken)")
  }

  // MARK: As a component

  private enum BaseLibrary: Library {
    static let name = "base", version = "1.0.0"
    static func components() -> [Component] {
      [
        Component((any StoreProvider).self) { _, _ in Stores() },
        Component((any CryptoProvider).self) { _, _ in FakeCrypto() },
      ]
    }
  }

  private struct Stores: StoreProvider {
    func openStore(
      named name: String, in directory: String, options: StoreOptions
    ) async throws -> any OrderedStore { ModelStore() }
  }

  private enum PostLibrary: Library {
    static let name = "post", version = "1.0.0"
    static let post = Post(.none)
    static func components() -> [Component] { [Component((any CodeSender).self) { _, _ in post }] }
  }

  private enum FailingPostLibrary: Library {
    static let name = "failing-post", version = "1.0.0"
    static func components() -> [Component] { [Component((any CodeSender).self) { _, _ in throw Post.Lost() }] }
  }

  @Test func `a sender that a library registers is used`() async throws {
    let app = try VestaApp.configure(
      name: "sender", options: VestaOptions(projectID: "sender"),
      libraries: [BaseLibrary.self, PostLibrary.self, AuthServiceLibrary.self])
    let backend = try app.container.require((any AuthBackend).self)
    let request = SendOobCodeRequest(requestType: .emailSignIn, email: "ada@example.com")
    _ = try await backend.sendOobCode(request, context: CallContext())
    #expect(PostLibrary.post.emails.withLock { $0.map(\.recipient) } == ["ada@example.com"])
    await app.delete()
  }

  @Test func `a sender that cannot be made is an error and not absent`() async throws {
    let app = try VestaApp.configure(
      name: "failing-sender", options: VestaOptions(projectID: "failing-sender"),
      libraries: [BaseLibrary.self, FailingPostLibrary.self, AuthServiceLibrary.self])
    #expect(throws: VestaError.self) { try app.container.require((any AuthBackend).self) }
    await app.delete()
  }
}
