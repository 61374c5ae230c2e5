import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabase

/// The view of one observer, rebuilt from each kind of its events.
final class OracleShown: Sendable {
  private let state = Locked((children: [String: OracleTree](), value: OracleTree?.none, problems: [String]()))

  var value: OracleTree? { state.withLock { $0.value } }
  var problems: [String] { state.withLock { $0.problems } }

  func apply(_ event: RaisedEvent) {
    state.withLock { state in
      let key = event.path.back?.text ?? ""
      let node = OracleTree(event.node.node.exportValue)
      switch event.kind {
      case .childAdded, .childChanged:
        if (state.children[key] != nil) != (event.kind == .childChanged) {
          state.problems.append("\(event.kind) \(key)")
        }
        state.children[key] = node
      case .childRemoved:
        if state.children.removeValue(forKey: key) == nil { state.problems.append("removed \(key)") }
      case .childMoved: break
      case .value:
        state.value = node
        if case .children(let children) = node {
          if children != state.children { state.problems.append("\(node) beside \(state.children)") }
        } else if !state.children.isEmpty {
          state.problems.append("\(node) beside \(state.children)")
        }
      }
    }
  }
}
