import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthBackendFakes
import VestaBytes
import VestaConcurrency
import VestaTesting

/// The contract of blocking functions: the fake keeps it, and for each promise there is a wrong way to ask that breaks
/// it and nothing else.
@Suite struct BlockingFunctionContractTests {
  private static func subject(_ change: (inout WrongFunctions) -> Void = { _ in }) -> BlockingFunctionSubject {
    let good = ScriptedBlockingFunctions()
    var functions = WrongFunctions(good: good)
    change(&functions)
    return BlockingFunctionSubject(functions, url: "http://a.example/f") { reply in
      good.replies { _ throws(AuthServiceError) in
        switch reply {
        case .changes(let answer): return answer
        case .refuses(let text): throw AuthServiceError(.blockingFunctionError, text)
        case .isAbsent: throw AuthServiceError(.blockingFunctionError, "no answer")
        }
      }
    } received: {
      good.asked.map { "\($0.event.rawValue) \($0.user.localID) \($0.signInMethod)" }
    }
  }

  @Test(arguments: BlockingFunctionContracts.all)
  func `the fake keeps every promise`(_ contract: Contract<BlockingFunctionSubject>) async throws {
    try await contract.verify(Self.subject())
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription, broken: String
    let change: @Sendable (inout WrongFunctions) -> Void

    init(_ fault: String, breaks broken: String, change: @escaping @Sendable (inout WrongFunctions) -> Void) {
      (testDescription, self.broken, self.change) = (fault, broken, change)
    }
  }

  @Test(arguments: faults) func `a wrong way to ask breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await BlockingFunctionContracts.all.run { Self.subject(fault.change) }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  @Test func `every promise has a way to ask that breaks it`() {
    #expect(Set(BlockingFunctionContracts.all.map(\.name)) == Set(Self.faults.map(\.broken)))
  }

  static let faults: [Fault] = [
    Fault(
      "names another way to sign in",
      breaks: "the function gets the event, the account and the way to sign in, once for each question"
    ) { wrong in
      wrong.asks = { good, question in
        var question = question
        question.signInMethod = "phone"
        return try await good.answer(to: question)
      }
    },
    Fault("makes up a flag", breaks: "a function that changes nothing has an empty answer") { wrong in
      wrong.asks = { good, question in
        let answer = try await good.answer(to: question)
        return answer == BlockingAnswer() ? BlockingAnswer(disabled: false) : answer
      }
    },
    Fault("loses what is false", breaks: "the changes of a function are its answer") { wrong in
      wrong.asks = { good, question in
        var answer = try await good.answer(to: question)
        if answer.emailVerified == false { answer.emailVerified = nil }
        return answer
      }
    },
    Fault("always has claims of the session", breaks: "claims of a session are part of sign-ins alone") { wrong in
      wrong.asks = { good, question in
        var answer = try await good.answer(to: question)
        if question.event == .beforeCreate, answer.displayName != nil { answer.sessionClaims = ["b": true] }
        return answer
      }
    },
    Fault("hides the text", breaks: "a refusal is an error with the text of the function") { wrong in
      wrong.asks = { good, question in
        do { return try await good.answer(to: question) } catch { throw AuthServiceError(.blockingFunctionError) }
      }
    },
    Fault(
      "lets users in when nothing answers",
      breaks: "a function that does not answer is a refusal, and the next question is asked again"
    ) { wrong in
      wrong.asks = { good, question in
        do { return try await good.answer(to: question) } catch let error as AuthServiceError {
          guard error.detail == "no answer" else { throw error }
          return BlockingAnswer()
        }
      }
    },
    Fault("asks a few times only", breaks: "concurrent questions get their own answers") { wrong in
      let count = Locked(0)
      wrong.asks = { good, question in
        let asked = count.withLock { count in
          count += 1
          return count
        }
        return asked > 8 ? BlockingAnswer() : try await good.answer(to: question)
      }
    },
  ]
}

/// Functions over good ones, whose method can be replaced.
struct WrongFunctions: AuthBlockingFunctions {
  typealias Good = any AuthBlockingFunctions

  let good: Good
  var asks: @Sendable (Good, BlockingQuestion) async throws -> BlockingAnswer = { try await $0.answer(to: $1) }

  func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer {
    do {
      return try await asks(good, question)
    } catch {
      throw error as? AuthServiceError ?? AuthServiceError(.internalError)
    }
  }
}
