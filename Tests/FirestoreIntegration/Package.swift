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
  name: "FirestoreIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/Rules"),
    .package(path: "../../Packages/SQLite"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .executableTarget(
      name: "FirestoreCrashWorker",
      dependencies: [
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "FirestoreClientCrashWorker",
      dependencies: [
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FirestoreIntegrationTests",
      dependencies: [
        "FirestoreClientCrashWorker", "FirestoreCrashWorker",
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaRules", package: "Rules"),
        .product(name: "VestaRulesGuards", package: "Rules"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
