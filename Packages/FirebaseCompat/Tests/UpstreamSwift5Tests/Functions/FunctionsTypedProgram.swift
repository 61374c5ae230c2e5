import FirebaseCore
import FirebaseFunctions
import Foundation

// A program as users of the Firebase SDK write it: options, every error code, calls as functions, and streams.

struct Question: Codable, Sendable {
  var text: String
  var count: Int
}

struct Answer: Codable, Sendable, Equatable {
  var words: [String]
  var score: Double?
}

// Sound as @unchecked Sendable: used by one test at a time.
final class QuestionModel: @unchecked Sendable {
  let functions: Functions
  init(functions: Functions) { self.functions = functions }

  func values(_ completion: @escaping @Sendable ([String]) -> Void) {
    let options = HTTPSCallableOptions(requireLimitedUseAppCheckTokens: true)
    let data: [String: Any] = [
      "text": "a", "number": 1, "half": 0.5, "flag": true, "nothing": NSNull(), "list": [1, "b", ["c": 2]] as [Any],
    ]
    functions.httpsCallable("echo", options: options).call(data) { result, error in
      guard let answer = result?.data as? [String: Any] else { return completion(["\(String(describing: error))"]) }
      let list = answer["list"] as? [Any] ?? []
      completion([
        answer["text"] as? String ?? "none", "\(answer["number"] as? Int ?? -1)", "\(answer["half"] as? Double ?? -1)",
        "\(answer["flag"] as? Bool ?? false)", "\(answer["nothing"] is NSNull)", "\(list.count)",
        "\((list.last as? [String: Any])?["c"] as? Int ?? -1)",
      ])
    }
  }

  func failure(_ name: String, _ completion: @escaping @Sendable (String) -> Void) {
    functions.httpsCallable(name).call { result, error in
      guard let error = error as NSError?, error.domain == FunctionsErrorDomain else { return completion("no error") }
      let details = (error.userInfo[FunctionsErrorDetailsKey] as? [String: Any])?["reason"] as? String
      switch FunctionsErrorCode(rawValue: error.code) {
      case .notFound: completion("not found")
      case .resourceExhausted: completion("exhausted: \(details ?? "none"), \(error.localizedDescription)")
      case .internal: completion(error.localizedDescription)
      case .some(let code): completion("\(code)")
      case .none: completion("no code")
      }
    }
  }

  func called(_ completion: @escaping @Sendable (Answer?) -> Void) {
    let ask: Callable<Question, Answer> = functions.httpsCallable("ask")
    ask(Question(text: "why", count: 2)) { result in
      completion(try? result.get())
    }
  }

  func modern() async -> [String] {
    var outcomes: [String] = []
    var ask = functions.httpsCallable("ask", requestAs: Question.self, responseAs: Answer.self)
    ask.timeoutInterval = 20
    do {
      outcomes.append("\(try await ask.call(Question(text: "how", count: 1)).words)")
      _ = try await ask(Question(text: "", count: 1))
    } catch {
      let error = error as NSError
      switch FunctionsErrorCode(rawValue: error.code) {
      case .invalidArgument: outcomes.append(error.localizedDescription)
      case .unauthenticated, .permissionDenied: outcomes.append("not allowed")
      default: outcomes.append("\(error)")
      }
    }
    return outcomes
  }

  func stream() async throws -> [String] {
    var words: [String] = []
    let callable: Callable<String, StreamResponse<String, Int>> = functions.httpsCallable("words")
    for try await response in try callable.stream("to be or") {
      switch response {
      case .message(let word): words.append(word)
      case .result(let count): words.append("\(count)")
      }
    }
    return words
  }
}
