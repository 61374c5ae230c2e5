import VestaAppCheckInterop
import VestaConcurrency
public import VestaTesting

/// The promises of `AppCheckInterop` as checks.
///
/// ```swift
/// for outcome in await AppCheckInteropContracts.all.run(against: { try await makeSubject() }) { print(outcome) }
/// ```
public enum AppCheckInteropContracts {
  /// All promises, including the listeners'.
  public static let all: [Contract<AppCheckInteropSubject>] = tokens + failures + threads + listeners

  private static let tokens: [Contract<AppCheckInteropSubject>] = [
    Contract("a token stays the same") { subject in
      for _ in 1...2 {
        let token = try await subject.token(forcingRefresh: true)
        for _ in 1...3 { try expect(try await subject.token() == token, "the token is another one") }
      }
    },
    Contract("a forced refresh gives a new token, which is kept") { subject in
      let old = try await subject.token()
      let new = try await subject.token(forcingRefresh: true)
      try expect(new != old, "a forced refresh gave the old token")
      try expect(try await subject.token() == new, "the new token was not kept")
    },
    Contract("limited-use tokens never come back") { subject in
      var seen = [try await subject.token()]
      for _ in 1...5 {
        let token = try await subject.limitedUseToken()
        try expect(!seen.contains(token), "a limited-use token was given before")
        seen.append(token)
      }
    },
    Contract("a limited-use token does not replace the current one, and listeners are not called") { subject in
      let token = try await subject.token()
      let log = EventLog<AppCheckTokenChange>(patience: subject.patience)
      log.keep(subject.appCheck.addTokenListener { log.record($0) })
      _ = try await subject.limitedUseToken()
      try expect(try await subject.token() == token, "the current token is another one")
      let next = AppCheckTokenChange(token: try await subject.token(forcingRefresh: true))
      try await log.wait(for: "the next token") { $0.last == next }
      log.cancel()
      try expect(log.events.count, equals: 1, "the number of new tokens that were heard")
    },
  ]

  private static let failures: [Contract<AppCheckInteropSubject>] = [
    Contract("a failure gives an AppCheckInteropError and the placeholder to send") { subject in
      try await subject.setFetchesFail(true)
      for result in [
        await subject.appCheck.getToken(forcingRefresh: false),
        await subject.appCheck.getToken(forcingRefresh: true),
        await subject.appCheck.getLimitedUseToken(),
      ] {
        let error = try expectValue(result.error as? AppCheckInteropError, "an AppCheckInteropError")
        try expect(error.code, equals: .unavailable, "the code")
        try expect(
          result.token == AppCheckTokenResultInterop.placeholderToken, "the token beside the error is no placeholder")
      }
    },
    Contract("a failed refresh leaves the current token as it is") { subject in
      let token = try await subject.token()
      try await subject.setFetchesFail(true)
      _ = await subject.appCheck.getToken(forcingRefresh: true)
      try expect(try await subject.token() == token, "the current token is another one")
    },
    Contract("a failure is not remembered") { subject in
      try await subject.setFetchesFail(true)
      for _ in 1...4 { _ = await subject.appCheck.getToken(forcingRefresh: false) }
      try await subject.setFetchesFail(false)
      _ = try await subject.token()
      _ = try await subject.limitedUseToken()
    },
  ]

  private static let listeners: [Contract<AppCheckInteropSubject>] = ListenerContracts.all(greets: false) { subject in
    ListenerSubject(
      patience: subject.patience,
      add: { subject.appCheck.addTokenListener($0) },
      change: { _ in AppCheckTokenChange(token: try await subject.token(forcingRefresh: true)) }
    )
  }
}
