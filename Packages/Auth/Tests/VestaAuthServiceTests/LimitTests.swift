import Testing
import VestaAuthBackend
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

/// Values that are too long, look like something else, or would reveal too much.
@Suite struct LimitTests {
  // MARK: The size of a token

  @Test(arguments: ["name", "control", "url"])
  func `a profile that would make the ID token unusable is refused`(part: String) async throws {
    let world = World()
    let made = try await world.signUp()
    var request = UpdateRequest(idToken: made.tokens.idToken)
    switch part {
    case "name": request.displayName = String(repeating: "x", count: 5000)
    case "control": request.displayName = String(repeating: "\u{1}", count: 2100)
    default: request.photoURL = "https://example.com/" + String(repeating: "x", count: 7000)
    }
    let refused = request
    #expect(await refusal { try await world.engine.update(refused, context: world.context) } == .invalidArgument)
    _ = try await world.lookup(made.tokens)
  }

  @Test func `the longest account that is accepted has an ID token that is accepted`() async throws {
    let world = World()
    let made = try await world.signUp()
    let name = String(repeating: "\u{1}", count: Checks.longestName / 6)
    let url = "https://example.com/" + String(repeating: "x", count: Checks.longestURL - 20)
    let claims = #"{"a":""# + String(repeating: "y", count: 980) + #""}"#
    var provider = 0
    var refused: AuthServiceError.Code?
    while refused == nil {
      provider += 1
      let user = ProviderUserInfo(
        providerID: "oidc.\(provider)", rawID: String(repeating: "\"", count: 1000))
      refused = await refusal {
        try await world.engine.administration.updateUser(
          AdminUpdateRequest(
            localID: made.localID, displayName: name, photoURL: url, customAttributes: claims, linkProvider: user),
          context: .owner)
      }
    }
    #expect(refused == .invalidArgument && provider > 1)
    let tokens = try await world.refresh(made.tokens).tokens
    #expect(try await world.lookup(tokens).displayName == name)
    #expect(tokens.idToken.utf8.count < JWT.defaultMaximumSize - 1500)
  }

  @Test func `an import keeps what fits and says of the rest why not`() async throws {
    let world = World()
    let long = String(repeating: "x", count: 70_000)
    var users = [
      ImportedUser(localID: "a"), ImportedUser(localID: "b"), ImportedUser(localID: "c"), ImportedUser(localID: "d"),
    ]
    users[0].displayName = long
    users[1].providerUserInfo = [ProviderUserInfo(providerID: "google.com", rawID: long)]
    users[2].photoURL = long
    let response = try await world.engine.administration.batchCreate(BatchCreateRequest(users: users), context: .owner)
    #expect(response.errors.map(\.index) == [0, 1, 2])
    #expect(try await world.record("d").localID == "d")
    let link = ProviderUserInfo(providerID: "google.com", rawID: long)
    #expect(
      await refusal {
        try await world.engine.administration.updateUser(
          AdminUpdateRequest(localID: "d", linkProvider: link), context: .owner)
      } == .invalidArgument)
  }

  // MARK: Addresses

  @Test func `one address written in two ways is one account`() async throws {
    let world = World()
    try await world.signUp("caf\u{E9}@example.com")
    #expect(await refusal { try await world.signUp("cafe\u{301}@example.com") } == .emailExists)
    try await world.signIn("CAFE\u{301}@example.com")
    let found = try await world.engine.administration.getUsers(
      GetUsersRequest(emails: ["Cafe\u{301}@example.com"]), context: .owner)
    #expect(found.users.count == 1)
  }

  @Test(arguments: [
    "a@\u{301}b@evil.com", "a\u{200B}b@x.com", "a\u{202E}@x.com", "\u{FEFF}a@x.com", "a\u{AD}b@x.com", "a@b,evil.com",
    "a@b;evil.com", "a<b>@x.com", "a b@x.com", "a@x.com\u{2028}", "\u{E000}@x.com",
    "a@b\u{3002}com", "a@b\u{FF0E}com", "a@b\u{FF61}com", "a\u{FF20}b.com", "a\u{FE6B}@b.com",
  ])
  func `an address that can be read in two ways is refused`(email: String) async throws {
    let world = World()
    #expect(await refusal { try await world.signUp(email) } == .invalidEmail)
  }

  // MARK: Links

  @Test(arguments: [
    "https:///evil.com/x", "https:////evil.com", "https:\\\\evil.com://", "https://?@evil.com",
    "javascript://localhost/%0aalert(1)", "data://localhost", "data://", "file://localhost/etc/passwd",
    "https://localhost@evil.com", "https://localhost\\@evil.com", "//localhost", "localhost", "https://",
    "https://local host", "https://localhost:80x/", "https://[::1", "myapp://open", "https://\u{7F}localhost",
  ])
  func `a link to continue to is a page of a known domain or nothing`(url: String) async throws {
    let world = World()
    #expect(await refusal { try await world.send(.emailSignIn, url: url) } == .invalidContinueURI)
    #expect(world.sender.recordedEmails.isEmpty)
  }

  @Test func `hosts are compared in lower case, and an app's own scheme has to be named`() async throws {
    let world = World { $0.continueURLSchemes = ["myapp"] }
    for url in ["HTTPS://LOCALHOST/a", "http://localhost:8080", "http://localhost?q#f", "myapp://open?x=1"] {
      try await world.send(.emailSignIn, url: url)
    }
    #expect(await refusal { try await world.send(.emailSignIn, url: "https://evil.com") } == .unauthorizedDomain)
    #expect(ContinueURL("https://[::1]:9099/x", appSchemes: []) == .web(host: "[::1]"))
    #expect(ContinueURL("https://AZ.az-09.com/x", appSchemes: []) == .web(host: "az.az-09.com"))
    #expect(ContinueURL("https://[::1]:80]/x", appSchemes: []) == nil)
    // The neighbours of letters and digits are neither.
    for neighbour in ["`", "{", "@", "[", "/", ":"] {
      #expect(ContinueURL("https://a\(neighbour)b.com/x", appSchemes: []) != .web(host: "a\(neighbour)b.com"))
    }
  }

  // MARK: Information in answers

  /// A sender that waits until it is let go, or fails.
  private final class SlowSender: CodeSender {
    struct Failure: Error {}
    let fails: Bool
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    init(fails: Bool) { self.fails = fails }
    func release() { continuation.finish() }

    func send(_ message: EmailMessage) async throws {
      if fails { throw Failure() }
      for await _ in stream {}
    }

    func send(_ message: TextMessage) async throws {}
  }

  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
  func `a password reset ends before its message is sent, and in the same way for every address`(fails: Bool)
    async throws
  {
    let sender = SlowSender(fails: fails)
    let world = World { $0.codeSender = sender }
    try await world.signUp()
    // Would wait for ever, or throw, if the call waited for the sender.
    try await world.send(.passwordReset)
    try await world.send(.passwordReset, to: "nobody@example.com")
    sender.release()
    await world.engine.core.outbox.drain()
  }

  @Test func `messages that wait are bounded`() async {
    let outbox = Outbox(limit: 3)
    let sent = Counter()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let gate = Task { for await _ in stream {} }
    for _ in 0..<10 {
      outbox.post {
        await gate.value
        _ = sent.next()
      }
    }
    continuation.finish()
    await outbox.drain()
    #expect(sent.next() == 4)
  }

  // MARK: The store

  @Test(arguments: [
    (StoreError.Code.locked, AuthServiceError.Code.internalError), (.corrupt, .dataLoss),
    (.readOnly, .internalError), (.diskFull, .resourceExhausted), (.notADatabase, .internalError),
    (.conflict, .aborted), (.closed, .unavailable), (.unknownOutcome, .deadlineExceeded),
  ])
  func `a store that needs a person says what is wrong and what to do`(
    code: StoreError.Code, expected: AuthServiceError.Code
  ) async throws {
    let cause = StoreError(code, operation: "open", path: "/data/store", message: "What happened.", hint: "Do this.")
    let engine = AuthEngine(projectID: "demo", crypto: FakeCrypto()) { throw cause }
    let error = try #require(
      await #expect(throws: AuthServiceError.self) {
        try await engine.signUp(SignUpRequest(), context: CallContext())
      })
    #expect(error.code == expected)
    for part in ["/data/store", "What happened.", "Do this."] { #expect(error.detail?.contains(part) == true) }
  }
}
