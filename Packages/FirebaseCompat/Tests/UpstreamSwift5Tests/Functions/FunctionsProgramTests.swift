import FirebaseCore
import FirebaseFunctions
import Foundation
import Testing
import VestaFunctionsService

@Suite(.serialized) struct FunctionsProgramTests {
  struct Numbers: Codable, Sendable { var firstNumber: Int, secondNumber: Int }

  @Test func `a program with callable functions runs as it is`() async throws {
    try await withApp("functions") { app in
      let registry = try FunctionRegistry.registry(for: app)
      registry.onCall("addNumbers") { (numbers: Numbers, request) in
        guard numbers.firstNumber >= 0 else { throw HTTPSError(.invalidArgument, "Too small.") }
        return ["operationResult": numbers.firstNumber + numbers.secondNumber]
      }
      registry.onCall("hello") { request in "Hello" }
      let model = CalculatorModel(functions: Functions.functions(app: app))
      let (sum, _) = await answer { done in model.add(2, 3) { done(($0, $1)) } }
      #expect(sum == 5)
      let (_, code) = await answer { done in model.add(-2, 3) { done(($0, $1)) } }
      #expect(code == .invalidArgument)
      #expect(await answer { model.withoutData($0) } == "Hello")
      #expect(await answer { model.typed($0) } == 7)
      let outcome1 = try await model.modern()
      #expect(outcome1 == [3, 11])
    }
  }
}
