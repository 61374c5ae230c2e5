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
  name: "AuthBackend",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAuthBackend", targets: ["VestaAuthBackend"]),
    .library(name: "VestaAuthBackendContracts", targets: ["VestaAuthBackendContracts"]),
    .library(name: "VestaAuthBackendFakes", targets: ["VestaAuthBackendFakes"]),
  ],
  dependencies: [
    .package(path: "../ServiceInterop"),
    .package(path: "../../Packages/Core"),
  ],
  targets: [
    .target(
      name: "VestaAuthBackend",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthBackendContracts",
      dependencies: [
        "VestaAuthBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthBackendFakes",
      dependencies: [
        "VestaAuthBackend",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAuthBackendTests",
      dependencies: [
        "VestaAuthBackend", "VestaAuthBackendContracts", "VestaAuthBackendFakes",
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
