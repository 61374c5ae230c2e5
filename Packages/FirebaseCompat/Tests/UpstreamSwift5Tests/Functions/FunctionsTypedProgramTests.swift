import FirebaseCore
import FirebaseFunctions
import Foundation
import Testing
import VestaFunctionsService

@Suite(.serialized) struct FunctionsTypedProgramTests {
  @Test func `a program with typed functions, errors and streams runs as it is`() async throws {
    try await withApp("typed") { app in
      let registry = try FunctionRegistry.registry(for: app)
      registry.onCall("echo") { request in request.data }
      registry.onCall("full") { request -> String in
        throw HTTPSError(.resourceExhausted, "Full.", details: ["reason": "quota"])
      }
      registry.onCall("ask") { (question: Question, request) in
        guard !question.text.isEmpty else { throw HTTPSError(.invalidArgument, "Ask something.") }
        return Answer(words: Array(repeating: question.text, count: question.count), score: nil)
      }
      registry.onStreamingCall("words") { (text: String, _, stream: CallableStream<String>) in
        let words = text.split(separator: " ").map(String.init)
        for word in words { try await stream.send(word) }
        return words.count
      }
      let model = QuestionModel(functions: Functions.functions(app: app))
      #expect(await answer { model.values($0) } == ["a", "1", "0.5", "true", "true", "3", "2"])
      #expect(await answer { model.failure("absent", $0) } == "not found")
      #expect(await answer { model.failure("full", $0) } == "exhausted: quota, Full.")
      #expect(await answer { model.called($0) } == Answer(words: ["why", "why"]))
      #expect(await model.modern() == ["[\"how\"]", "Ask something."])
      let found1 = try await model.stream()
      #expect(found1 == ["to", "be", "or", "3"])
    }
  }
}
