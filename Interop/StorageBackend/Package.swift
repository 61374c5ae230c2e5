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
  name: "StorageBackend",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaStorageBackend", targets: ["VestaStorageBackend"]),
    .library(name: "VestaStorageBackendContracts", targets: ["VestaStorageBackendContracts"]),
    .library(name: "VestaStorageBackendFakes", targets: ["VestaStorageBackendFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../ServiceInterop"),
  ],
  targets: [
    .target(
      name: "VestaStorageBackend",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStorageBackendContracts",
      dependencies: [
        "VestaStorageBackend", "VestaStorageBackendFakes",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaStorageBackendFakes",
      dependencies: [
        "VestaStorageBackend", .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaStorageBackendTests",
      dependencies: [
        "VestaStorageBackend", "VestaStorageBackendContracts",
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
