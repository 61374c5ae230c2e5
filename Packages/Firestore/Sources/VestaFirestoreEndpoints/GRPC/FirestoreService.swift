import VestaTransportInterop

/// The methods of `google.firestore.v1.Firestore`, and of its administration.
struct FirestoreService: GRPCService {
  /// The beginnings of paths; old clients use `v1beta1`, which has the same calls and messages as `v1`.
  static let names = ["/google.firestore.v1.Firestore/", "/google.firestore.v1beta1.Firestore/"]

  private let methods: [String: GRPCMethod]

  init(_ calls: CallTable, _ administration: AdminCallTable) {
    let own = Self.names.flatMap { name in calls.grpc.map { (name + $0.key, $0.value) } }
    methods = administration.grpc.merging(own) { $1 }
  }

  func method(at path: String) -> GRPCMethod? { methods[path] }
}
