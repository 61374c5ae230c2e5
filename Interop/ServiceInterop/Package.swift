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
  name: "ServiceInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaServiceInterop", targets: ["VestaServiceInterop"]),
    .library(name: "VestaServiceInteropContracts", targets: ["VestaServiceInteropContracts"]),
    .library(name: "VestaServiceInteropFakes", targets: ["VestaServiceInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core"),
    .package(path: "../AppCheckInterop"),
    .package(path: "../AuthInterop"),
  ],
  targets: [
    .target(
      name: "VestaServiceInterop",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaServiceInteropContracts",
      dependencies: [
        "VestaServiceInterop",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaServiceInteropFakes",
      dependencies: [
        "VestaServiceInterop",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaServiceInteropTests",
      dependencies: [
        "VestaServiceInterop", "VestaServiceInteropContracts", "VestaServiceInteropFakes",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAppCheckInteropFakes", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaAuthInteropFakes", package: "AuthInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
