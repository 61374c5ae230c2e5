import Foundation
import Testing
import VestaCore
import VestaFunctions
import VestaFunctionsService
import VestaTesting

@Suite struct FunctionsProgramTests {
  @Test func `a program of the Firebase SDK's users does on Functions what it does there`() async throws {
    let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    options.projectID = "program"
    options.backend = .embedded(directory: URL(fileURLWithPath: NSTemporaryDirectory()))
    let app = try VestaApp.configure(
      name: "program", options: options, libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
    let registry = try FunctionRegistry.registry(for: app)
    registry.onCall("addNumbers") { request in
      guard let data = request.data as? [String: Any], let first = data["firstNumber"] as? Int,
        let second = data["secondNumber"] as? Int, first >= 0
      else { throw HTTPSError(.invalidArgument, "Two numbers, please.", details: ["first": -1]) }
      return ["operationResult": first + second]
    }
    registry.onStreamingCall("countdown") { (start: Int, _, stream: CallableStream<Int>) in
      for number in stride(from: start, to: 0, by: -1) { try await stream.send(number) }
      return "lift-off"
    }
    let calculator = await Calculator(functions: Functions.functions(app: app))
    let sums = Log<Int?>()
    await calculator.add(1, 2) { sums.add($0) }
    await sums.wait(for: 1)
    await calculator.add(-1, 2) { sums.add($0) }
    #expect(await sums.wait(for: 2) == [3, nil])
    #expect(await calculator.explain(2, 3) == "5")
    #expect(await calculator.explain(-2, 3) == "invalid: Two numbers, please.")
    #expect(try await calculator.addTyped(4, 5) == 9)
    let typed = Log<Int?>()
    await calculator.addTyped(6, 7) { typed.add(try? $0.get()) }
    #expect(await typed.wait(for: 1) == [13])
    #expect(try await calculator.countdown(from: 3) == ["3", "2", "1", "lift-off"])
    await app.delete()
  }
}
