import VestaAuthInterop
import VestaBytes
import VestaCore
import VestaFunctionsBackend
import VestaServiceInterop

/// The functions of a project, called by one app: the app's own Auth says who its callers are.
final class AppFunctions: FunctionsBackend, ComponentLifecycleMaintainer {
  private let engine: FunctionsEngine
  private let check: CallerCheck

  init(_ engine: FunctionsEngine, auth: (any AuthInterop)?) {
    self.engine = engine
    check = CallerCheck(auth: auth, verifyAppCheckToken: engine.options.verifyAppCheckToken)
  }

  func call(_ call: FunctionCall, context: CallContext) async throws -> JSONValue {
    try await engine.call(call, context: context, checkedBy: check)
  }

  func stream(_ call: FunctionCall, context: CallContext) -> AsyncThrowingStream<FunctionEvent, any Error> {
    engine.stream(call, context: context, checkedBy: check)
  }

  func appWillBeDeleted(_ app: VestaApp) async { check.close() }
}
