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
  name: "FunctionsIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Interop/TransportInterop"),
    .package(path: "../../Interop/FunctionsBackend"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Packages/Auth"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Database"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/Functions"),
    .package(path: "../../Packages/MemoryStore"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/SQLite"),
    .package(path: "../../Packages/Storage"),
  ],
  targets: [
    .executableTarget(
      name: "EventCrashWorker",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FunctionsIntegrationTests",
      dependencies: [
        "EventCrashWorker",
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFunctions", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsEndpoints", package: "Functions"),
        .product(name: "VestaFunctionsRemote", package: "Functions"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
