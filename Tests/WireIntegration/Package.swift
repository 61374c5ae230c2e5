// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "WireIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/SQLite"),
    .package(path: "../../Packages/Transport"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .testTarget(
      name: "WireIntegrationTests",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreEndpoints", package: "Firestore"),
        .product(name: "VestaFirestoreRemote", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFirestoreWire", package: "Firestore"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaRemoteConfig", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigEndpoints", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigRemote", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigBackendContracts", package: "RemoteConfigBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      resources: [.copy("firestore-oracle.py")],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
