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
  name: "RulesIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/MemoryStore"),
    .package(path: "../../Packages/Rules"),
    .package(path: "../../Packages/Storage"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
  ],
  targets: [
    .testTarget(
      name: "RulesIntegrationTests",
      dependencies: [
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaRules", package: "Rules"),
        .product(name: "VestaRulesGuards", package: "Rules"),
        .product(name: "VestaRulesTesting", package: "Rules"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
