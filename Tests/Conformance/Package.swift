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
  name: "Conformance",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Database"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/MemoryStore"),
    .package(path: "../../Packages/Postgres"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/Rules"),
  ],
  targets: [
    .executableTarget(
      name: "crypto-conformance",
      dependencies: [
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCrypto", package: "Crypto"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "database-conformance",
      dependencies: [
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseModel", package: "Database"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "firestore-backend-conformance",
      dependencies: [
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "remote-config-conformance",
      dependencies: [.product(name: "VestaRemoteConfigService", package: "RemoteConfig")],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "rules-conformance",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaRules", package: "Rules"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "firestore-spec-conformance",
      dependencies: [
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaFirestoreSpecs", package: "Firestore"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
