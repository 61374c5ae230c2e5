import Foundation
import VestaFunctions

// A program as users of the Firebase SDK write it: untyped values, completion handlers, casts to `NSError`, typed
// callables and the asynchronous forms. Only the imports differ.

@MainActor
final class Calculator {
  struct Numbers: Encodable {
    let firstNumber: Int
    let secondNumber: Int
  }

  struct Sum: Decodable {
    let operationResult: Int
  }

  let functions: Functions
  var message = ""

  init(functions: Functions) { self.functions = functions }

  func add(_ first: Int, _ second: Int, _ done: @escaping @Sendable (Int?) -> Void) {
    let data = ["firstNumber": first, "secondNumber": second]
    functions.httpsCallable("addNumbers").call(data) { result, error in
      if let error = error as NSError? {
        if error.domain == FunctionsErrorDomain {
          let code = FunctionsErrorCode(rawValue: error.code)
          let message = error.localizedDescription
          let details = error.userInfo[FunctionsErrorDetailsKey]
          print("\(String(describing: code)) \(message) \(String(describing: details))")
        }
        done(nil)
        return
      }
      if let data = result?.data as? [String: Any], let sum = data["operationResult"] as? Int { done(sum) }
    }
  }

  func explain(_ first: Int, _ second: Int) async -> String {
    let callable = functions.httpsCallable(
      "addNumbers", options: HTTPSCallableOptions(requireLimitedUseAppCheckTokens: false))
    callable.timeoutInterval = 10
    do {
      let result = try await callable.call(["firstNumber": first, "secondNumber": second])
      message = "\((result.data as? [String: Any])?["operationResult"] ?? "nothing")"
    } catch {
      let error = error as NSError
      switch FunctionsErrorCode(rawValue: error.code) {
      case .invalidArgument: message = "invalid: \(error.localizedDescription)"
      case .unauthenticated, .permissionDenied: message = "sign in first"
      case .deadlineExceeded: message = "too late"
      default: message = "another failure"
      }
    }
    return message
  }

  func addTyped(_ first: Int, _ second: Int) async throws -> Int {
    let add: Callable<Numbers, Sum> = functions.httpsCallable("addNumbers")
    let asFunction = functions.httpsCallable("addNumbers", requestAs: Numbers.self, responseAs: Sum.self)
    let numbers = Numbers(firstNumber: first, secondNumber: second)
    let (one, two) = (try await add.call(numbers), try await asFunction(numbers))
    return one.operationResult == two.operationResult ? one.operationResult : -1
  }

  func addTyped(_ first: Int, _ second: Int, _ done: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    let add: Callable<Numbers, Sum> = functions.httpsCallable("addNumbers")
    add.call(Numbers(firstNumber: first, secondNumber: second)) { result in
      switch result {
      case .success(let sum): done(.success(sum.operationResult))
      case .failure(let error): done(.failure(error))
      }
    }
  }

  func countdown(from number: Int) async throws -> [String] {
    let count: Callable<Int, StreamResponse<Int, String>> = functions.httpsCallable("countdown")
    var lines: [String] = []
    for try await response in try count.stream(number) {
      switch response {
      case .message(let number): lines.append("\(number)")
      case .result(let text): lines.append(text)
      }
    }
    return lines
  }
}
