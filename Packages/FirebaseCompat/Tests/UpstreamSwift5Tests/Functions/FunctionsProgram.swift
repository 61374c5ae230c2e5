import FirebaseCore
import FirebaseFunctions
import Foundation

// A program as users of the Firebase SDK write it, with callable functions.

// Sound as @unchecked Sendable: used by one test at a time.
final class CalculatorModel: @unchecked Sendable {
  let functions: Functions
  init(functions: Functions) { self.functions = functions }

  func add(_ first: Int, _ second: Int, _ completion: @escaping @Sendable (Int?, FunctionsErrorCode?) -> Void) {
    let data: [String: Any] = ["firstNumber": first, "secondNumber": second]
    functions.httpsCallable("addNumbers").call(data) { result, error in
      if let error = error as NSError? {
        if error.domain == FunctionsErrorDomain {
          let code = FunctionsErrorCode(rawValue: error.code)
          let details = error.userInfo[FunctionsErrorDetailsKey]
          print(error.localizedDescription, details ?? "no details")
          return completion(nil, code)
        }
      }
      if let operationResult = (result?.data as? [String: Any])?["operationResult"] as? Int {
        completion(operationResult, nil)
      }
    }
  }

  func withoutData(_ completion: @escaping @Sendable (String?) -> Void) {
    let callable = functions.httpsCallable("hello")
    callable.timeoutInterval = 10
    callable.call { result, error in
      completion(result?.data as? String)
    }
  }

  struct Numbers: Codable { var firstNumber: Int, secondNumber: Int }
  struct Outcome: Codable { var operationResult: Int }

  func typed(_ completion: @escaping @Sendable (Int?) -> Void) {
    let callable: Callable<Numbers, Outcome> = functions.httpsCallable("addNumbers")
    callable.call(Numbers(firstNumber: 3, secondNumber: 4)) { result in
      switch result {
      case .success(let outcome): completion(outcome.operationResult)
      case .failure(let error):
        print(error)
        completion(nil)
      }
    }
  }

  func modern() async throws -> [Int] {
    let result = try await functions.httpsCallable("addNumbers").call(["firstNumber": 1, "secondNumber": 2])
    let callable = functions.httpsCallable(
      "addNumbers", requestAs: Numbers.self, responseAs: Outcome.self)
    let outcome = try await callable(Numbers(firstNumber: 5, secondNumber: 6))
    return [(result.data as? [String: Any])?["operationResult"] as? Int ?? 0, outcome.operationResult]
  }
}
