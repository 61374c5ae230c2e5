import Foundation
import VestaAuth
import VestaAuthService
import VestaCore
import VestaCrypto
import VestaFunctions
import VestaFunctionsService
import VestaSQLite

// Functions: closures of this program, called by name, that know who calls, or notified of changes.
@Sendable
func functionsChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(
    options: guide.options("functions"),
    libraries: [
      FunctionsLibrary.self, FunctionsServiceLibrary.self, AuthLibrary.self, AuthServiceLibrary.self,
      SQLiteLibrary.self, CryptoLibrary.self,
    ])
  let registry = try FunctionRegistry.registry()
  registry.onCall("greet") { (name: String, request) in
    guard let auth = request.auth else { throw HTTPSError(.unauthenticated, "Sign in first.") }
    return "Hello \(name), you are \(auth.uid)"
  }

  let (welcomed, sink) = AsyncStream.makeStream(of: String.self)
  try registry.onUserCreated("welcome") { sink.yield($0.data.uid) }

  // No user, even if an earlier run left a guest behind.
  try Auth.auth().signOut()
  let greet: Callable<String, String> = Functions.functions().httpsCallable("greet")
  do {
    _ = try await greet("Ada")
    try guide.show("a function refuses a caller who is not signed in", false)
  } catch let error as FunctionsError {
    try guide.show(
      "a function refuses a caller who is not signed in: \(error.localizedDescription)",
      error.code == .unauthenticated)
  }
  let user = try await Auth.auth().signInAnonymously().user
  let answer = try await greet("Ada")
  try guide.show("it knows the caller's identity: \(answer.hasSuffix(user.uid))", answer.hasSuffix(user.uid))
  var isWelcome = false
  for await uid in welcomed where uid == user.uid {
    isWelcome = true
    break
  }
  try guide.show("an event function is notified of the new account", isWelcome)

  registry.onStreamingCall("count") { (limit: Int, _, stream: CallableStream<Int>) in
    for number in 1...limit { try await stream.send(number) }
    return "done"
  }
  let count: Callable<Int, StreamResponse<Int, String>> = Functions.functions().httpsCallable("count")
  var numbers: [Int] = []
  var result = ""
  for try await response in try count.stream(3) {
    switch response {
    case .message(let number): numbers.append(number)
    case .result(let text): result = text
    }
  }
  try guide.show("a function streams while it runs: \(numbers), \(result)", numbers == [1, 2, 3] && result == "done")
  await app.delete()
}
