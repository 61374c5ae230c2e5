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
  name: "Firestore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaFirestore", targets: ["VestaFirestore"]),
    .library(name: "VestaFirestoreSpecs", targets: ["VestaFirestoreSpecs"]),
    .library(name: "VestaFirestoreReference", targets: ["VestaFirestoreReference"]),
    .library(name: "VestaFirestoreService", targets: ["VestaFirestoreService"]),
    .library(name: "VestaFirestoreWire", targets: ["VestaFirestoreWire"]),
    .library(name: "VestaFirestoreEndpoints", targets: ["VestaFirestoreEndpoints"]),
    .library(name: "VestaFirestoreRemote", targets: ["VestaFirestoreRemote"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/EventsInterop"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaFirestore",
      dependencies: [
        "VestaFirestoreModel", "VestaFirestoreSync",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDataCoding", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreSync",
      dependencies: [
        "VestaFirestoreModel",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreSpecs",
      dependencies: [
        "VestaFirestoreModel", "VestaFirestoreSync",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaBytes", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreSyncTests",
      dependencies: [
        "VestaFirestoreModel", "VestaFirestoreService", "VestaFirestoreSync",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreTests",
      dependencies: [
        "VestaFirestore", "VestaFirestoreEndpoints", "VestaFirestoreModel", "VestaFirestoreReference",
        "VestaFirestoreRemote", "VestaFirestoreService", "VestaFirestoreSync",
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaAuthInteropFakes", package: "AuthInterop"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreModel",
      dependencies: [.product(name: "VestaFirestoreBackend", package: "FirestoreBackend")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreIndexes",
      dependencies: [
        "VestaFirestoreModel",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreReference",
      dependencies: [
        "VestaFirestoreModel",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreService",
      dependencies: [
        "VestaFirestoreIndexes", "VestaFirestoreModel",
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaCore", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreServiceTests",
      dependencies: [
        "VestaFirestoreIndexes", "VestaFirestoreModel", "VestaFirestoreReference", "VestaFirestoreService",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendFakes", package: "FirestoreBackend"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreModelTests",
      dependencies: [
        "VestaFirestoreModel", "VestaFirestoreReference",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreWire",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreWireTests",
      dependencies: [
        "VestaFirestoreWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreEndpoints",
      dependencies: [
        "VestaFirestoreWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreRemote",
      dependencies: [
        "VestaFirestoreWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreRemoteTests",
      dependencies: [
        "VestaFirestoreEndpoints", "VestaFirestoreRemote", "VestaFirestoreService", "VestaFirestoreWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreEndpointsTests",
      dependencies: [
        "VestaFirestoreEndpoints", "VestaFirestoreReference", "VestaFirestoreWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendFakes", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
