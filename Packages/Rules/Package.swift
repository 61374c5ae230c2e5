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
  name: "Rules",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaRules", targets: ["VestaRules"]),
    .library(name: "VestaRulesGuards", targets: ["VestaRulesGuards"]),
    .library(name: "VestaRulesTesting", targets: ["VestaRulesTesting"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
  ],
  targets: [
    .target(
      name: "VestaRules",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaPatterns", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaRulesGuards",
      dependencies: [
        "VestaRules",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaRulesTesting",
      dependencies: [
        "VestaRules", "VestaRulesGuards",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaRulesGuardsTests",
      dependencies: [
        "VestaRules", "VestaRulesGuards",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaRulesTestingTests",
      dependencies: [
        "VestaRules", "VestaRulesTesting",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaRulesTests",
      dependencies: [
        "VestaRules",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
