import Foundation
import Testing

@testable import VestaRemoteConfig

@Suite struct ErrorTests {
  private func caught(_ error: any Error) -> String {
    do {
      throw error
    } catch RemoteConfigError.throttled {
      return "throttled"
    } catch RemoteConfigUpdateError.notFetched {
      return "not fetched"
    } catch RemoteConfigCustomSignalsError.limitExceeded {
      return "limit exceeded"
    } catch {
      return "another"
    }
  }

  @Test func `a code is caught, also as an NSError, and not across domains`() {
    let errors: [(any Error, String)] = [
      (RemoteConfigError(.throttled, ""), "throttled"), (RemoteConfigUpdateError(.notFetched), "not fetched"),
      (RemoteConfigCustomSignalsError(.limitExceeded, ""), "limit exceeded"),
    ]
    for (error, name) in errors {
      #expect(caught(error) == name)
      #expect(caught(error as NSError) == name)
      #expect(caught(NSError(domain: (error as NSError).domain, code: (error as NSError).code)) == name)
    }
    // 8002 is `throttled` in one domain and `notFetched` in another.
    #expect(caught(RemoteConfigUpdateError(.streamError)) == "another")
    #expect(caught(NSError(domain: "else", code: 8002)) == "another")
    #expect(caught(CancellationError()) == "another")
  }
}
