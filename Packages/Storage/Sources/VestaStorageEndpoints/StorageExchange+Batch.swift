import VestaBytes
import VestaServiceInterop
import VestaStorageWire
import VestaTransportInterop

/// Several calls of Google's JSON in one request.
extension StorageExchange {
  /// Makes the calls of a batch one after another; each has a response, also one that fails.
  func batch() async throws -> HTTPResponse {
    let calls = try BatchWire.calls(contentType: field("content-type") ?? "", body: try await document())
    var answers: [BatchAnswer] = []
    var room = tuning.batchAnswers
    for call in calls {
      try Task.checkCancellation()
      let answer = await answer(to: call, upTo: min(room, tuning.batchAnswer))
      room -= answer.body.count
      answers.append(answer)
    }
    return HTTPResponse(
      .ok, fields: [.contentType: BatchWire.contentType], body: .bytes(BatchWire.body(of: answers)))
  }

  private func answer(to call: BatchCall, upTo limit: Int) async -> BatchAnswer {
    let response = await response(to: call)
    do {
      return BatchAnswer(
        id: call.id, status: response.status.code, reason: response.status.reason,
        contentType: response.fields.first(.contentType),
        body: try await response.body.collect(upTo: max(0, limit)))
    } catch {
      return BatchAnswer(id: call.id, status: 500, reason: HTTPStatus(500).reason)
    }
  }

  private func response(to call: BatchCall) async -> HTTPResponse {
    let field = { (name: String) in call.fields.first { $0.name == name }?.value }
    do {
      guard let route = try StorageRoute(method: call.method, target: call.target, field: field), route.isForBatches
      else { throw BytesError(.malformed, "A batch has calls of Google's JSON without content.") }
      return await Self.response(to: request(of: call), host, tuning)
    } catch {
      let route = StorageRoute(.google, .batch)
      return StorageFailure.response(to: request, route, error)
    }
  }

  /// The request of a call: a credential of the batch is that of each call without one.
  private func request(of call: BatchCall) -> HTTPRequest {
    var fields = HTTPFields(named: call.fields.map { ($0.name, $0.value) })
    if !fields.contains(.authorization), let value = request.fields.first(.authorization) {
      fields.set(.authorization, value)
    }
    return HTTPRequest(
      HTTPMethod(call.method), call.target, scheme: request.scheme, authority: request.authority, fields: fields,
      body: call.body.isEmpty ? .empty : .bytes(call.body), peer: request.peer)
  }
}

extension StorageRoute {
  /// Whether a batch can have the call: contents and other batches are not for one.
  fileprivate var isForBatches: Bool {
    switch call {
    case .download, .upload, .batch: false
    default: api == .google
    }
  }
}
