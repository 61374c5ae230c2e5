import Foundation
import VestaCore
import VestaFunctions
import VestaFunctionsService

/// Registers functions and calls them: plain, typed, streaming.
func consume() async -> Int32 {
  do {
    let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    options.projectID = "consumer"
    let app = try VestaApp.configure(
      options: options, libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
    try register(try FunctionRegistry.registry())
    try await use(Functions.functions())
    await app.delete()
    return 0
  } catch {
    print("failed: \(error)")
    return 1
  }
}

private func register(_ registry: FunctionRegistry) throws {
  registry.onCall("greet") { request in
    guard let name = (request.data as? [String: Any])?["name"] as? String else {
      throw HTTPSError(.invalidArgument, "There is no name.")
    }
    return ["text": "Hello, \(name)"]
  }
  registry.onCall("add") { (numbers: [Int], _) in numbers.reduce(0, +) }
  registry.onStreamingCall("count") { (limit: Int, _, stream: CallableStream<Int>) in
    for number in 1...limit { try await stream.send(number) }
    return "done"
  }
}

private func use(_ functions: Functions) async throws {
  let greeting = try await functions.httpsCallable("greet").call(["name": "Ada"])
  print(greeting.data)
  let add: Callable<[Int], Int> = functions.httpsCallable("add")
  print("1 + 2 + 3 =", try await add([1, 2, 3]))
  let count: Callable<Int, StreamResponse<Int, String>> = functions.httpsCallable("count")
  for try await response in try count.stream(3) {
    switch response {
    case .message(let number): print(number)
    case .result(let text): print(text)
    }
  }
  do {
    _ = try await functions.httpsCallable("greet").call()
  } catch let error as FunctionsError where error.code == .invalidArgument {
    print("refused: \(error.message)")
  }
}
