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
  name: "AppCheckBackend",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAppCheckBackend", targets: ["VestaAppCheckBackend"]),
    .library(name: "VestaAppCheckBackendContracts", targets: ["VestaAppCheckBackendContracts"]),
    .library(name: "VestaAppCheckBackendFakes", targets: ["VestaAppCheckBackendFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../ServiceInterop"),
  ],
  targets: [
    .target(
      name: "VestaAppCheckBackend",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckBackendContracts",
      dependencies: [
        "VestaAppCheckBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckBackendFakes",
      dependencies: [
        "VestaAppCheckBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAppCheckBackendTests",
      dependencies: [
        "VestaAppCheckBackend", "VestaAppCheckBackendContracts", "VestaAppCheckBackendFakes",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
