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
  name: "FirestoreBackend",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaFirestoreBackend", targets: ["VestaFirestoreBackend"]),
    .library(name: "VestaFirestoreBackendContracts", targets: ["VestaFirestoreBackendContracts"]),
    .library(name: "VestaFirestoreBackendFakes", targets: ["VestaFirestoreBackendFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../ServiceInterop"),
  ],
  targets: [
    .target(
      name: "VestaFirestoreBackend",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreBackendContracts",
      dependencies: [
        "VestaFirestoreBackend", "VestaFirestoreBackendFakes",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFirestoreBackendFakes",
      dependencies: [
        "VestaFirestoreBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFirestoreBackendTests",
      dependencies: [
        "VestaFirestoreBackend", "VestaFirestoreBackendContracts",
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
