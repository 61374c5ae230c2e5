import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseWire
import VestaTesting

@testable import VestaDatabaseRemote

/// The client's side of a connection, decision by decision.
@Suite struct MachineTests {
  private typealias Action = RemoteConnectionMachine.Action

  private static let greeting = #"{"t":"c","d":{"t":"h","d":{"ts":5,"v":"5","h":"s-1.example","s":"S"}}}"#
  private static let hello = Action.deliver(.hello(DatabaseHello(timestamp: 5, session: "S")))

  private func machine(
    host: String? = nil, followsHosts: Bool = true, _ change: (inout DatabaseRemoteTuning) -> Void = { _ in }
  ) -> RemoteConnectionMachine {
    var tuning = DatabaseRemoteTuning()
    tuning.keepAlive = .microseconds(45)
    tuning.answerTime = .microseconds(30)
    change(&tuning)
    return RemoteConnectionMachine(host: host, followsHosts: followsHosts, tuning: tuning)
  }

  private func open(_ change: (inout DatabaseRemoteTuning) -> Void = { _ in }) -> RemoteConnectionMachine {
    var machine = machine(change)
    _ = machine.opened(nil, keepsTokensSecret: true, at: 0)
    _ = machine.received(Array(Self.greeting.utf8), at: 0)
    return machine
  }

  private func texts(_ actions: [Action]) -> [String] {
    actions.flatMap { action -> [String] in
      if case .write(let frames) = action { return frames.map { String(decoding: $0, as: UTF8.self) } }
      return []
    }
  }

  private func reply(_ number: Int, _ body: String = #"{"s":"ok","d":""}"#) -> [UInt8] {
    Array(#"{"t":"d","d":{"r":\#(number),"b":\#(body)}}"#.utf8)
  }

  @Test func `what is asked before the first message waits for it, and is sent in order`() {
    var machine = machine()
    #expect(machine.start() == [.open(host: nil)])
    #expect(machine.send(.unauthenticate, id: 7, at: 0) == [])
    #expect(machine.opened(nil, keepsTokensSecret: true, at: 0) == [.wait(until: 45)])
    #expect(machine.send(.unappCheck, id: 7, at: 0) == [])
    let actions = machine.received(Array(Self.greeting.utf8), at: 1)
    #expect(actions.prefix(2) == [.remember(host: "s-1.example"), Self.hello])
    #expect(
      texts(actions) == [
        #"{"t":"d","d":{"r":1,"a":"unauth","b":{}}}"#, #"{"t":"d","d":{"r":2,"a":"unappeck","b":{}}}"#,
      ])
    // A second first message is none.
    #expect(machine.received(Array(Self.greeting.utf8), at: 1) == [])
  }

  @Test func `replies carry the number of the client, whatever order they arrive in`() {
    var machine = open()
    for id in [90, -4, 90] { _ = machine.send(.get("a", .all), id: id, at: 0) }
    #expect(
      machine.received(reply(2, #"{"s":"ok","d":7}"#), at: 0)
        == [.deliver(.reply(-4, DatabaseReply(.ok, node: DatabaseNode(.int(7)))))])
    #expect(
      machine.received(reply(3, #"{"s":"permission_denied","d":"no"}"#), at: 0)
        == [.deliver(.reply(90, DatabaseReply(.permissionDenied, message: "no")))])
    #expect(machine.received(reply(2), at: 0) == [], "a second reply")
    #expect(machine.received(reply(9), at: 0) == [], "a reply that was not asked for")
  }

  @Test func `a connection with its own credential is open when that is accepted`() {
    for isAccepted in [true, false] {
      var machine = machine(followsHosts: false)
      _ = machine.opened(DatabaseCredential(token: "T"), keepsTokensSecret: true, at: 0)
      _ = machine.send(.get("a", .all), id: 1, at: 0)
      let signIn = machine.received(Array(Self.greeting.utf8), at: 0)
      #expect(texts(signIn) == [#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"T"}}}"#] && signIn.count == 1)
      let actions = machine.received(
        reply(1, isAccepted ? #"{"s":"ok","d":{}}"# : #"{"s":"invalid_token","d":"bad"}"#), at: 0)
      if isAccepted {
        #expect(actions.first == Self.hello && texts(actions).count == 1)
      } else {
        #expect(actions == [.deliver(.closed(reason: "invalid_token: bad")), .disconnect])
      }
    }
  }

  @Test func `a service that names another host is followed once, before its first message`() {
    var machine = machine()
    let redirect = Array(#"{"t":"c","d":{"t":"r","d":"s-2.example"}}"#.utf8)
    _ = machine.opened(nil, keepsTokensSecret: true, at: 0)
    #expect(machine.received(redirect, at: 0) == [.remember(host: "s-2.example"), .open(host: "s-2.example")])
    #expect(machine.received(redirect, at: 0) == [], "from the connection that was left")
    _ = machine.opened(nil, keepsTokensSecret: true, at: 0)
    let second = machine.received(redirect, at: 0)
    #expect(second.first == .remember(host: "s-2.example") && second.last == .disconnect)

    machine = open()
    let late = machine.received(redirect, at: 0)
    #expect(late.first == .remember(host: "s-2.example") && late.last == .disconnect, "the client connects again")

    machine = self.machine(followsHosts: false)
    _ = machine.opened(nil, keepsTokensSecret: true, at: 0)
    #expect(machine.received(redirect, at: 0).contains(.disconnect))
  }

  @Test func `a host that was named and cannot be reached is forgotten, one that was reached is not`() {
    var machine = machine(host: "s-1.example")
    #expect(machine.start() == [.open(host: "s-1.example")])
    #expect(machine.lost("no") == [.remember(host: nil), .deliver(.closed(reason: "no")), .disconnect])
    machine = self.machine(host: "s-1.example")
    _ = machine.opened(nil, keepsTokensSecret: true, at: 0)
    _ = machine.received(Array(Self.greeting.utf8), at: 0)
    #expect(machine.lost("no") == [.deliver(.closed(reason: "no")), .disconnect])
    #expect(machine.lost("no") == [] && machine.close() == [])
    machine = self.machine(host: "s-1.example")
    #expect(!machine.close().contains(.remember(host: nil)), "the client has hung up")
  }

  @Test func `no token is sent where others could read it, but the word of emulators is`() {
    for request in [DatabaseRequest.authenticate(token: "T"), .appCheck(token: "T")] {
      var machine = machine()
      _ = machine.opened(nil, keepsTokensSecret: false, at: 0)
      _ = machine.received(Array(Self.greeting.utf8), at: 0)
      #expect(texts(machine.send(.get("a", .all), id: 1, at: 0)).count == 1)
      let actions = machine.send(request, id: 2, at: 0)
      #expect(texts(actions) == [] && actions.last == .disconnect)
      guard case .deliver(.failed)? = actions.first else {
        Issue.record("\(actions)")
        continue
      }
    }
    var machine = machine()
    _ = machine.opened(
      DatabaseCredential(token: "owner", isOwner: true), keepsTokensSecret: false, at: 0)
    #expect(texts(machine.received(Array(Self.greeting.utf8), at: 0)).first?.contains("gauth") == true)
  }

  @Test func `a long message travels in pieces, both ways`() {
    var machine = open { $0.wire.pieceUnits = 4 }
    let written = texts(machine.send(.put("a", DatabaseNode(.string("äöü")), hash: nil), id: 1, at: 0))
    #expect(written.first == "\(written.count - 1)" && written.count > 5)
    #expect(written.dropFirst().joined() == #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"äöü"}}}"#)
    for piece in ["2", #"{"t":"d","d":{"a":"d","b":"#] { #expect(machine.received(Array(piece.utf8), at: 0) == []) }
    #expect(
      machine.received(Array(#"{"p":"a","d":3}}}"#.utf8), at: 0)
        == [.deliver(.data("a", DatabaseNode(.int(3)), tag: nil))])
  }

  @Test func `a request that is too large is answered here, and the connection stays`() {
    var machine = open { $0.requestBytes = 100 }
    let large = DatabaseNode(.string(String(repeating: "x", count: 100)))
    guard case .deliver(.reply(5, let reply))? = machine.send(.put("a", large, hash: nil), id: 5, at: 0).first else {
      Issue.record("no reply")
      return
    }
    #expect(reply.status == .tooBig)
    #expect(texts(machine.send(.unauthenticate, id: 6, at: 0)).count == 1)
    // The limit itself is no excess.
    let text = texts(machine.send(.put("b", DatabaseNode(.int(1)), hash: nil), id: 7, at: 0)).first ?? ""
    for (limit, isSent) in [(text.utf8.count, true), (text.utf8.count - 1, false)] {
      var exact = open { $0.requestBytes = limit }
      #expect(texts(exact.send(.put("b", DatabaseNode(.int(1)), hash: nil), id: 7, at: 0)).isEmpty == !isSent)
    }
  }

  @Test func `pushes become messages in their order`() {
    var machine = open()
    func received(_ text: String) -> [Action] { machine.received(Array(text.utf8), at: 0) }
    #expect(
      received(#"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"b/c":1},"t":3}}}"#)
        == [.deliver(.merge("a", [DatabasePathValue("b/c", DatabaseNode(.int(1)))], tag: 3))])
    #expect(received(#"{"t":"d","d":{"a":"c","b":{"p":"a"}}}"#) == [.deliver(.listenRevoked("a", .all))])
    #expect(
      received(#"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"old"}}}"#)
        == [.deliver(.authRevoked(status: "expired_token", reason: "old"))])
    #expect(received(#"{"t":"d","d":{"a":"sd","b":{"msg":"why"}}}"#) == [.deliver(.debug("why"))])
    #expect(received(#"{"t":"c","d":{"t":"e","d":"odd"}}"#) == [.deliver(.debug("odd"))])
    #expect(received(#"{"t":"c","d":{"t":"new","d":{}}}"#) == [], "what a newer service says")
    #expect(
      received(#"{"t":"c","d":{"t":"s","d":"go"}}"#)
        == [.deliver(.shutdown(reason: "go")), .deliver(.closed(reason: "go")), .disconnect])
    #expect(received(#"{"t":"d","d":{"a":"sd","b":{"msg":"late"}}}"#) == [])
  }

  @Test func `a connection on which nothing is sent has signs of life, and a silent one is lost`() {
    var machine = open()
    #expect(texts(machine.timeIs(44)) == [])
    _ = machine.received(reply(9), at: 30)
    #expect(texts(machine.timeIs(45)) == ["0"])
    #expect(machine.timeIs(75) == [.write([Array(#"{"t":"c","d":{"t":"p","d":{}}}"#.utf8)]), .wait(until: 105)])
    _ = machine.received(Array(#"{"t":"c","d":{"t":"o","d":{}}}"#.utf8), at: 80)
    #expect(machine.timeIs(105) == [.wait(until: 120)], "the service has answered")
    #expect(texts(machine.timeIs(125)).count == 1)
    #expect(machine.timeIs(154) == [.wait(until: 155)])
    #expect(machine.timeIs(155) == [.deliver(.closed(reason: "The service is silent.")), .disconnect])
    #expect(machine.timeIs(200) == [])
  }

  @Test func `a machine that slept asks before it gives a connection up`() {
    var machine = open()
    #expect(texts(machine.timeIs(1_000_000)) == [#"{"t":"c","d":{"t":"p","d":{}}}"#])
    #expect(machine.timeIs(1_000_029).contains { if case .deliver = $0 { true } else { false } } == false)
  }

  @Test func `whatever a service sends, the connection continues or ends once`() {
    var random = SplitMix(seed: 11)
    let samples = [
      Self.greeting, #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":[1,{".sv":"x"}]}}}}"#, "3", "0", "", "999999",
      #"{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"s":"b","e":"c","m":1}]}}}"#, #"{"t":"c","d":{"t":"r","d":"x y"}}"#,
      #"{"t":"d","d":{"a":"c","b":{"p":"a","q":[{"i":".key","l":2,"vf":"l"}]}}}"#, #"{"t":"c","d":{"t":"h","d":7}}"#,
    ]
    for _ in 0..<20_000 {
      var machine = machine { $0.wire.maximumMessageBytes = 400 }
      _ = machine.opened(nil, keepsTokensSecret: true, at: 0)
      var ends = 0
      for step in 0..<6 {
        var bytes = Array((step == 0 && random.oneIn(2) ? Self.greeting : samples[random.below(samples.count)]).utf8)
        for _ in 0..<random.below(3) where !bytes.isEmpty {
          bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.below(256))
        }
        if random.oneIn(4) { bytes = Array(bytes.prefix(random.below(bytes.count + 1))) }
        if random.oneIn(3) { _ = machine.send(.get("a", .all), id: step, at: 0) }
        for action in machine.received(bytes, at: 0) {
          #expect(ends == 0 || action == .disconnect)
          if case .deliver(.closed) = action { ends += 1 }
        }
      }
      #expect(ends <= 1)
    }
  }
}
